"""What is to be said of an endpoint as its page stands, saved or not."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.forms import BaseFormSet, ModelForm
from django.utils.translation import gettext as _

from designer.configuration import Configuration
from designer.loading import latest
from designer.models import Endpoint
from designer.readiness import Checker, Finding
from designer.studio.checking.finding_places import locate
from designer.studio.checking.form_errors import errors_by_field, has_repeated_rows
from designer.studio.checking.page_draft import with_draft
from designer.studio.located_findings import Located
from designer.studio.metadata.page_metadata import known_metadata

# The rule about rows with one name, by the prefix of their formset.
_REPEATED_RULES: Mapping[str | None, str] = {"inputs": "input-repeated"}


@dataclass(frozen=True, slots=True)
class Examined:
    """The findings about an endpoint as its page has it, and the same with their places on the page.

    `configuration` is the live one, with the endpoint as the page has it.
    """

    configuration: Configuration
    findings: Sequence[Finding]
    located: Sequence[Located]

    def verdict(self, row: Endpoint) -> str:
        """Return the sentence for the head of the page: whether the endpoint can be served."""
        if any(finding.is_blocking for finding in self.findings):
            if row.enabled:
                return _("It cannot be served like this. What blocks it is marked below.")
            return _("This is a draft. Correct what is marked ✖, then switch it on.")
        return (
            _("Callers can use it now.")
            if row.enabled
            else _("This draft can be served. Switch it on under Enabled, and save.")
        )


def examine(
    row: Endpoint,
    form: ModelForm[Endpoint],
    formsets: Sequence[BaseFormSet[Any]],
    refused: Collection[Finding] = (),
    *,
    is_unfinished: bool = False,
) -> Examined:
    """Return the findings about the endpoint in `row`, as the forms of its page have it.

    Forms that were not sent have the saved endpoint. `refused` are the findings for which a save was just
    refused; some are only known while saving. `is_unfinished`: somebody is filling in the page, which does
    not show yet that a value is missing.
    """
    configuration = latest()
    if form.is_bound and row.pk in configuration.endpoints:
        configuration = with_draft(configuration, form, formsets)
    checker = Checker(configuration, known_metadata())
    findings = checker.endpoint_if_known(row.pk)
    findings += [finding for finding in refused if finding not in findings]
    errors = errors_by_field(form, formsets, with_missing=not is_unfinished)
    # The finding stands at the first of two rows with one name; the form says the same at the second.
    said_by_rows = {_REPEATED_RULES.get(formset.prefix) for formset in formsets if has_repeated_rows(formset)}
    shown = [finding for finding in findings if finding.rule not in said_by_rows]
    located = locate(row.pk, checker, shown, form, formsets)
    return Examined(configuration, findings, [item for item in located if not _is_said(item, errors)])


def _is_said(item: Located, errors: Mapping[str, Sequence[str]]) -> bool:
    """Whether the errors of a finding's field say what is wrong there.

    A finding that says the same as an error is shown in its place, with its fix.
    """
    return item.place in errors and item.finding.said not in errors[item.place]
