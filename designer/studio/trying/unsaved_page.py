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
    """Return the configuration with `row` as its page stands, if `values` has the fields of that unsaved page
    under `UNSAVED`; else the configuration as it is saved.

    Raises Http404 for an endpoint that the configuration does not have.
    """
    configuration = latest()
    if row.pk not in configuration.endpoints:
        raise Http404
    text = values.get(UNSAVED, "")
    if not text:
        return configuration
    page_request = copy(request)
    page_request.POST = QueryDict(text)
    # The page with the answer of a call is a GET, for which the admin would read the rows of the database.
    page_request.method = "POST"
    return with_draft(configuration, *forms_of(pages, page_request, row))


def forms_of(
    pages: ModelAdmin, request: HttpRequest, row: Endpoint
) -> tuple[ModelForm[Endpoint], list[BaseFormSet[Any]]]:
    """Return the form and the formsets of an endpoint's page that was sent.

    Where the page renames an input, whatever names that input gets the new name.
    """
    request = copy(request)
    request.POST = with_renamed_inputs(request.POST, row)  # type: ignore[assignment]  # it is read only
    form = pages.get_form(request, row, change=True)(request.POST, instance=row)
    formsets, _ = pages._create_formsets(request, row, change=True)
    return form, formsets
