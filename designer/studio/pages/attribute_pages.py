"""Attributes that the configuration names: where each is used, replacing one everywhere, or removing it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from crmclient.query.other_attributes import AttributeChange
from designer.audit import note
from designer.definitions import ConfigurationDocument
from designer.documents.document_writer import export
from designer.documents.judgement import judge
from designer.documents.plan import Plan, plan
from designer.documents.problems import DocumentError
from designer.history.items import digest_of
from designer.history.readable_versions import describe
from designer.history.recording import Origin
from designer.history.refused_changes import ChangeRefused
from designer.history.restoration import all_groups, carry_out
from designer.history.wording import lines
from designer.loading import latest
from designer.models import AuditEntry
from designer.sentences import said
from designer.studio.metadata import choices
from designer.studio.navigation.request_overview import seen_by
from designer.studio.pages.base import Crumb, StudioPage
from designer.studio.saving.authors import author_of
from designer.studio.saving.refused_as_proposal import proposed, tell_refused
from designer.studio.saving.undo_offers import say_done
from designer.studio.used_places import used_places
from designer.uses.attribute_changes import changed_document
from designer.uses.attribute_uses import AttributeUse, attribute_index, missing_attributes
from designer.uses.where_used import Use

# All that an attribute may be named in.
_MAY_CHANGE = ("designer.change_endpoint", "designer.change_exposedentity", "designer.change_userproperty")


class ListedAttribute(NamedTuple):
    """A row on the list of attributes in use."""

    entity: str
    attribute: str
    users: int
    is_missing: bool

    @property
    def link(self) -> str:
        return attribute_page(self.entity, self.attribute)


class AttributesPage(StudioPage):
    """Every attribute that is used; those that the platform does not have come first."""

    title = gettext_lazy("Attributes in use")
    permission_required = "designer.view_endpoint"
    template_name = "designer/pages/attributes.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        overview = seen_by(self.request)
        configuration, metadata = overview.configuration, overview.metadata
        missing = missing_attributes(configuration, metadata)
        index = attribute_index(configuration, metadata.users)
        listed = [
            ListedAttribute(*key, len({use.user for use in uses}), key in missing)
            for key, uses in index.items()
        ]
        ordered = sorted(listed, key=lambda item: (not item.is_missing, item.entity, item.attribute))
        return super().get_context_data(attributes=ordered, **kwargs)


class AttributePage(StudioPage):
    """One attribute: where it is used, and a form to replace or remove it in all places, after a
    confirmation.
    """

    permission_required = "designer.view_endpoint"
    template_name = "designer/pages/attribute.html"

    @property
    def title(self) -> str:  # type: ignore[override]  # this page's depends on the request
        return _("Attribute %(name)s") % {"name": f"{self._entity}.{self._attribute}"}

    def crumbs(self) -> list[Crumb]:
        return [Crumb(AttributesPage.title, reverse("studio:attributes"))]

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        overview = seen_by(self.request)
        metadata = overview.metadata
        key = self._entity, self._attribute
        uses = attribute_index(overview.configuration, metadata.users).get(key, ())
        offered = choices.attributes(metadata, self._entity)
        return super().get_context_data(
            entity=self._entity,
            attribute=self._attribute,
            is_missing=key in missing_attributes(overview.configuration, metadata),
            where_used=used_places(self.request, _as_uses(uses), overview.configuration),
            count=len({use.user for use in uses}),
            can_leave_out=any(use.is_safe for use in uses),
            offered=[(name, label) for name, label in offered if name and name != self._attribute],
            may_change=self.request.user.has_perms(_MAY_CHANGE),
            **kwargs,
        )

    def post(self, request: HttpRequest) -> HttpResponseBase:
        if not request.user.has_perms(_MAY_CHANGE):
            raise PermissionDenied
        new = request.POST.get("new", "").strip()
        replaces = request.POST.get("do") != "remove"
        metadata = seen_by(request).metadata
        if replaces and new not in metadata.attributes(self._entity):
            return self.again(problems=[_("Choose the attribute that takes its place.")])
        change = AttributeChange(self._entity, self._attribute, new if replaces else None)
        planned = _PlannedChange(change, metadata.users)
        if request.POST.get("confirmed") != planned.digest():
            return self._ask(planned)
        return self._make(request, planned)

    def _ask(self, planned: _PlannedChange) -> HttpResponseBase:
        """Return the page that shows what the change would do, and asks to confirm it."""
        try:
            judgement = judge(planned.plan)
        except DocumentError as error:
            return self.again(problems=[said(problem) for problem in error.problems])
        if judgement.plan.does_nothing:
            return self.again(problems=[_("Nothing would change. Look at each place, and change it there.")])
        if not judgement.is_acceptable():
            return self.again(problems=[said(text) for text in judgement.sentences()])
        uses = attribute_index(latest(), planned.users).get((self._entity, self._attribute), ())
        stays = [use for use in uses if planned.change.new is None and not use.is_safe]
        return self.render_to_response(
            self.get_context_data(
                changes=list(_in_words(judgement.plan)),
                stays=used_places(self.request, _as_uses(stays), latest()) if stays else None,
                new=planned.change.new or "",
                digest=planned.digest(),
            )
        )

    def _make(self, request: HttpRequest, planned: _PlannedChange) -> HttpResponseBase:
        """Make the change, or open a proposal of it for those who may not. Return where to go."""
        change = planned.change
        old_name = f"{change.entity}.{change.old}"
        description = _("“%(old)s” left out.") % {"old": old_name}
        if change.new is not None:
            description = _("“%(old)s” replaced by “%(new)s”.") % {"old": old_name, "new": change.new}
        try:
            made = carry_out(planned.plan, export(latest()), author_of(request, Origin.STUDIO, description))
        except ChangeRefused as refused:
            if opened := proposed(request, refused, description):
                return opened
            tell_refused(request, refused)
            return HttpResponseRedirect(request.get_full_path())
        except DocumentError as error:
            return self.again(problems=[said(problem) for problem in error.problems])
        detail = f"replaced by {change.new}" if change.new else "left out"
        note(request, AuditEntry.Action.CHANGE, f"attribute: {old_name}", detail)
        say_done(request, description, made.version)
        return HttpResponseRedirect(attribute_page(change.entity, change.new or change.old))

    @property
    def _entity(self) -> str:
        return self.request.GET.get("entity", "")

    @property
    def _attribute(self) -> str:
        return self.request.GET.get("attribute", "")

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.user.has_perm(self.permission_required) and not self._is_known():
            raise Http404
        return super().dispatch(request, *args, **kwargs)

    def _is_known(self) -> bool:
        metadata = seen_by(self.request).metadata
        used = attribute_index(latest(), metadata.users)
        key = self._entity, self._attribute
        return key in used or self._attribute in metadata.attributes(self._entity)


class _PlannedChange:
    """A change, with the plan that it is to the present configuration."""

    def __init__(self, change: AttributeChange, users: str) -> None:
        self.change, self.users = change, users

    def plan(self, now: ConfigurationDocument) -> Plan:
        return plan(now, changed_document(now, self.change, self.users), all_groups(now))

    def digest(self) -> str:
        """Return the digest of the question, so that an answer counts for this question only."""
        asked = [self.change.entity, self.change.old, self.change.new]
        return digest_of([*asked, [change.to_json() for change in self.plan(export(latest())).changes]])


def attribute_page(entity: str, attribute: str) -> str:
    query = urlencode({"entity": entity, "attribute": attribute})
    return f"{reverse('studio:attribute')}?{query}"


def _as_uses(uses: Sequence[AttributeUse]) -> list[Use]:
    return [Use(use.user, use.place) for use in uses]


def _in_words(made: Plan) -> Iterator[tuple[str, list[str]]]:
    for change in made.changes:
        collection = change.collection.field
        before, after = (
            None if definition is None else definition.to_json()
            for definition in (change.before, change.after)
        )
        yield describe(collection, change.key), [line.text for line in lines(collection, before, after)]
