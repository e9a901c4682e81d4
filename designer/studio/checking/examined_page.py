"""What is to be said of an endpoint as its page stands, saved or not."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from django.forms import BaseFormSet, ModelForm
from django.utils.translation import gettext as _

from designer.configuration import Configuration
from designer.loading import latest
from designer.models import Endpoint
from designer.readiness import Checker, Finding
from designer.studio.checking.finding_places import locate
from designer.studio.checking.page_draft import with_draft
from designer.studio.located_findings import Located
from designer.studio.metadata.page_metadata import known_metadata


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
) -> Examined:
    """Return the findings about the endpoint in `row`, as the forms of its page have it.

    Forms that were not sent have the saved endpoint. `refused` are the findings for which a save was just
    refused; some are only known while saving.
    """
    configuration = latest()
    if form.is_bound and row.pk in configuration.endpoints:
        configuration = with_draft(configuration, form, formsets)
    checker = Checker(configuration, known_metadata())
    findings = checker.endpoint_if_known(row.pk)
    findings += [finding for finding in refused if finding not in findings]
    return Examined(configuration, findings, locate(row.pk, checker, findings, form, formsets))
