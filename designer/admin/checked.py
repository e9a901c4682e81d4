"""Saving with readiness: what would not work is refused at the form, and nothing typed is lost."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, ClassVar

from django import forms
from django.contrib import messages
from django.db.models import Model
from django.forms import BaseFormSet
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from designer.admin.look import ModelAdmin
from designer.loading import latest
from designer.platform import get_platform
from designer.readiness import Checker, Finding, Metadata


class Refused(Exception):
    """A save that must be rolled back."""

    def __init__(self, findings: Collection[Finding]) -> None:
        super().__init__("; ".join(finding.message for finding in findings))
        self.findings = findings


def checker() -> Checker:
    """Checks the configuration as this request sees it: inside a save, with what is being saved."""
    return Checker(latest(), Metadata(get_platform()))


class RefusalForm(forms.ModelForm):  # type: ignore[type-arg]
    """Shows, at its fields, the findings that made an earlier attempt at the same save fail."""

    refused: Collection[Finding] = ()
    # Where a finding's field has another name in the form.
    renamed: ClassVar[dict[str, str]] = {}

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        for finding in self.refused:
            name = finding.field.replace(".", "__")
            name = self.renamed.get(name, name)
            self.add_error(name if name in self.fields else None, finding.message)
        return cleaned


class CheckedAdmin(ModelAdmin):
    """Tries each save, checks what came of it in the same transaction, and takes back what is refused."""

    def refusals(self, request: HttpRequest, row: Model) -> Collection[Finding]:
        """Blocking findings that forbid what has just been saved."""
        raise NotImplementedError

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            response: HttpResponseBase = super().changeform_view(request, *args, **kwargs)
        except Refused as refused:
            request.refused = refused.findings  # type: ignore[attr-defined]
            response = super().changeform_view(request, *args, **kwargs)
        return response

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        form = super().get_form(request, obj, change=change, **kwargs)
        form.refused = getattr(request, "refused", ())
        return form

    def save_related(
        self, request: HttpRequest, form: Any, formsets: Iterable[BaseFormSet[Any]], change: bool
    ) -> None:
        super().save_related(request, form, formsets, change)
        if refusals := self.refusals(request, form.instance):
            raise Refused(refusals)


class SharedAdmin(CheckedAdmin):
    """For rows that endpoints depend on: a save may not block what works."""

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.method == "POST":
            request.blocked_before = set(_blocking())  # type: ignore[attr-defined]
        return super().changeform_view(request, *args, **kwargs)

    def refusals(self, request: HttpRequest, row: Model) -> Collection[Finding]:
        before: set[Finding] = getattr(request, "blocked_before", set())
        return [finding for finding in _blocking() if finding not in before]


def warn(request: HttpRequest, findings: Iterable[Finding]) -> None:
    for finding in findings:
        if not finding.is_blocking:
            messages.warning(request, finding.message)


def _blocking() -> Iterable[Finding]:
    return [finding for finding in checker().everything() if finding.is_blocking]
