"""The page of an endpoint as it stands, unsaved, sent along to what is done with it before it is saved."""

from __future__ import annotations

from copy import copy
from typing import Any

from django.forms import BaseFormSet, ModelForm
from django.http import Http404, HttpRequest, QueryDict

from designer.configuration import Configuration
from designer.loading import latest
from designer.models import Endpoint
from designer.studio.checking.page_draft import with_draft
from designer.studio.endpoint_form.renamed_inputs import with_renamed_inputs
from designer.studio.look import ModelAdmin

# The fields of the page's form, encoded as in a URL.
UNSAVED = "_unsaved"


def configuration_of(
    pages: ModelAdmin, request: HttpRequest, row: Endpoint, values: QueryDict
) -> Configuration:
    """Return the configuration with `row` as the unsaved page has it, whose form is in `values` under
    `UNSAVED`; as it is saved without it.

    Raises Http404 for an endpoint that the configuration does not have.
    """
    configuration = latest()
    if row.pk not in configuration.endpoints:
        raise Http404
    text = values.get(UNSAVED, "")
    if not text:
        return configuration
    sent = copy(request)
    sent.POST = QueryDict(text)
    # The answer of a call is a page of its own, whose rows are those that were sent with the call.
    sent.method = "POST"
    return with_draft(configuration, *forms_of(pages, sent, row))


def forms_of(
    pages: ModelAdmin, request: HttpRequest, row: Endpoint
) -> tuple[ModelForm[Endpoint], list[BaseFormSet[Any]]]:
    """The form and the rows of a page that was sent; what uses a renamed input follows its name."""
    request = copy(request)
    request.POST = with_renamed_inputs(request.POST, row)  # type: ignore[assignment]  # it is read only
    form = pages.get_form(request, row, change=True)(request.POST, instance=row)
    formsets, _ = pages._create_formsets(request, row, change=True)
    return form, formsets
