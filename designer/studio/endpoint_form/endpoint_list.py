"""The list of endpoints: each with its readiness, narrowed by kind."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from designer.kinds import KINDS
from designer.studio.look import ChangeList
from designer.studio.navigation.request_overview import overview_for


class ReadyList(ChangeList):
    """A list of endpoints. Each row of a page has `findings`, all from one overview of the configuration."""

    result_list: Any

    def get_results(self, request: HttpRequest) -> None:
        """Read the rows of the page, and give each its findings."""
        super().get_results(request)
        # A list keeps the findings on its rows, where a query set would read the rows anew.
        self.result_list = list(self.result_list)
        overview = overview_for(request)
        for row in self.result_list:
            row.findings = overview.of(row.pk)


class KindFilter(admin.SimpleListFilter):
    title = _("kind")
    parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(kind.name, gettext(kind.label)) for kind in KINDS.values()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(kind=self.value()) if self.value() else queryset
