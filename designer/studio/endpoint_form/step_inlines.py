"""Data fetchers and pre-conditions, on their endpoint's page."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from designer.models import Fetcher, Precondition
from designer.studio.endpoint_form.fetchxml_fields import FetchXmlField
from designer.studio.look import StackedInline, TabularInline


class FetcherForm(forms.ModelForm):  # type: ignore[type-arg]
    query = FetchXmlField("query", label=_("Query"), help_text=Fetcher._meta.get_field("query").help_text)

    class Meta:
        model = Fetcher
        fields = ("position", "name", "query", "first", "apply_row_rules")


class FetcherInline(StackedInline):
    model = Fetcher
    form = FetcherForm
    folded = True
    fieldsets = ((None, {"fields": ("name", "query", ("first", "apply_row_rules"), "position")}),)


class PreconditionInline(TabularInline):
    model = Precondition
    fields = ("expression", "status", "message", "position")
