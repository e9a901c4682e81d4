"""Rows that endpoints need stay, and the page that would delete one says which endpoints those are."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import ngettext

from designer.admin.saving.checked import SharedAdmin
from designer.models import Endpoint

_SHOWN = 50
# Says what to do about what is named.
NEEDED = "designer/needed.html"


class NeededAdmin(SharedAdmin):
    """For models with a relation `endpoints`."""

    delete_confirmation_template = NEEDED

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Thousands of endpoints may need a row: the first are named, which one query finds."""
        relation = self.model._meta.get_field("endpoints").field.name
        needing = Endpoint.objects.filter(**{f"{relation}__in": objs}).distinct()
        count = needing.count()
        if not count:
            return super().get_deleted_objects(objs, request)
        shown = needing.select_related("module", "entity__module").order_by("pk")[:_SHOWN]
        named: list[str] = [_link(endpoint) for endpoint in shown]
        if rest := count - len(named):
            named.append(ngettext("… and %(number)s more", "… and %(number)s more", rest) % {"number": rest})
        return [], {}, set(), named


def _link(endpoint: Endpoint) -> str:
    address = reverse("admin:designer_endpoint_change", args=[endpoint.pk])
    return format_html('<a href="{}">{}</a>', address, endpoint)
