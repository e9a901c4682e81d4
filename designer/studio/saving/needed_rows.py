"""Rows that endpoints need stay, and the page that would delete one says which endpoints those are."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import ngettext

from designer.models import Endpoint
from designer.studio.saving.checked_save import SharedAdmin

_MOST_SHOWN = 50


class NeededAdmin(SharedAdmin):
    """The admin pages of rows that endpoints need: such a row cannot be deleted."""

    def needing(self, objs: Any) -> QuerySet[Endpoint]:
        """Return the endpoints that need any of `objs`: those of the relation `endpoints`, unless a subclass
        says otherwise.
        """
        relation = self.model._meta.get_field("endpoints").field.name
        return Endpoint.objects.filter(**{f"{relation}__in": objs}).distinct()

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Return what the page of a deletion shows, with the endpoints that need `objs` as what is protected.

        The first endpoints are named, which one query finds: there may be thousands.
        """
        needing = self.needing(objs)
        count = needing.count()
        if not count:
            return super().get_deleted_objects(objs, request)
        shown = needing.select_related("module", "entity__module").order_by("pk")[:_MOST_SHOWN]
        links: list[str] = [_link(endpoint) for endpoint in shown]
        if rest := count - len(links):
            links.append(ngettext("… and %(number)s more", "… and %(number)s more", rest) % {"number": rest})
        # What is deleted, how many of each model, missing permissions, and what is protected.
        return [], {}, set(), links


def _link(endpoint: Endpoint) -> str:
    address = reverse("admin:designer_endpoint_change", args=[endpoint.pk])
    return format_html('<a href="{}">{}</a>', address, endpoint)
