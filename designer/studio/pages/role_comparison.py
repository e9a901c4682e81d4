"""*Compare two roles*: what their callers may do differently, and nothing of what they have in common."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext_lazy

from designer.access_control.access_matrix import ANONYMOUS, AUTHENTICATED
from designer.access_control.role_differences import Difference, column_in_words, differences
from designer.configuration import Configuration
from designer.definitions import ExposedEntityDefinition, RowRuleEntry
from designer.sentences import said
from designer.studio.navigation.request_overview import overview_for
from designer.studio.navigation.row_addresses import row_addresses
from designer.studio.pages.base import Crumb, StudioPage, StudioView
from designer.studio.pages.csv_cells import csv_file
from designer.studio.pages.matrix import matrix_columns
from designer.studio.row_rule_entries import entity_pages, entry_in_words


class ShownDifference(NamedTuple):
    """A difference between two callers: `one` and `other` say what each may do of `what`.

    `link` leads to the page of the endpoint or the exposed entity; empty where there is none.
    """

    what: str
    one: str
    other: str
    link: str


class CompareRolesPage(StudioPage):
    """Asks for two columns of the permission matrix, and shows in what their callers differ."""

    title = gettext_lazy("Compare two roles")
    permission_required = "designer.view_endpoint"
    template_name = "designer/pages/compare_roles.html"

    def crumbs(self) -> list[Crumb]:
        return [Crumb(gettext_lazy("Permission matrix"), reverse("studio:matrix"))]

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        configuration = overview_for(self.request).configuration
        columns = matrix_columns(configuration)
        chosen = _chosen(self.request, configuration)
        if chosen is not None:
            one, other = chosen
            kwargs |= {
                "differences": list(_with_links(_differences(self.request, one, other), configuration)),
                "one": one,
                "other": other,
                "one_label": said(column_in_words(one)),
                "other_label": said(column_in_words(other)),
                "query": self.request.GET.urlencode(),
            }
        return super().get_context_data(columns=columns, **kwargs)


class RoleDifferencesFile(StudioView):
    """The differences of the two columns in the address as a CSV file."""

    permission_required = "designer.view_endpoint"
    http_method_names = ["get"]

    def get(self, request: HttpRequest) -> HttpResponse:
        chosen = _chosen(request, overview_for(request).configuration)
        if chosen is None:
            raise Http404
        differences = _differences(request, *chosen)
        lines = [
            [said(difference.what), said(difference.one), said(difference.other)]
            for difference in differences
        ]
        return csv_file(
            "role-differences.csv", [["what", *(said(column_in_words(column)) for column in chosen)], *lines]
        )


def _chosen(request: HttpRequest, configuration: Configuration) -> tuple[str, str] | None:
    """Return the two columns that the address names; None while it does not name both.

    A column is a role, or one of the two for callers without roles. Raises Http404 for an unknown one.
    """
    one, other = request.GET.get("one", ""), request.GET.get("other", "")
    if not one or not other:
        return None
    columns = {ANONYMOUS, AUTHENTICATED, *(role.name for role in configuration.roles)}
    if not columns.issuperset((one, other)):
        raise Http404
    return one, other


def _differences(request: HttpRequest, one: str, other: str) -> list[Difference]:
    """Return what callers of two columns of the matrix may do differently."""
    overview = overview_for(request)

    def say(exposed: ExposedEntityDefinition, entry: RowRuleEntry) -> str:
        return entry_in_words(exposed, entry, overview.metadata)

    return list(differences(one, other, overview.configuration, overview.states, say))


def _with_links(differences: Iterable[Difference], configuration: Configuration) -> Iterator[ShownDifference]:
    """Yield each difference in the user's language, with a link to what it is about."""
    entities = entity_pages(configuration)
    address_of_endpoint = row_addresses("admin:designer_endpoint_change")
    for difference in differences:
        link = entities.get(difference.entity, "")
        if difference.endpoint is not None:
            link = address_of_endpoint(difference.endpoint)
        yield ShownDifference(said(difference.what), said(difference.one), said(difference.other), link)
