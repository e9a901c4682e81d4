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
from designer.readiness.metadata import MetadataUnavailable
from designer.sentences import said
from designer.studio.metadata import choices
from designer.studio.metadata.unavailable import unavailable_words
from designer.studio.navigation.request_overview import overview_for
from designer.studio.pages.base import Crumb, StudioPage
from designer.studio.saving.authors import author_of
from designer.studio.saving.refusal_messages import tell_refused
from designer.studio.saving.refused_as_proposal import open_as_proposal
from designer.studio.saving.undo_offers import say_done
from designer.studio.used_places import used_places
from designer.uses.attribute_changes import changed_document
from designer.uses.attribute_uses import (
    AttributeUse,
    attribute_index,
    count_items,
    is_there,
    missing_attributes,
)
from designer.uses.where_used import Use

# An attribute may be named in endpoints, row rules and user properties: who replaces one changes them all.
_RIGHTS_TO_CHANGE = (
    "designer.change_endpoint",
    "designer.change_exposedentity",
    "designer.change_userproperty",
)


class ListedAttribute(NamedTuple):
    """A row on the list of attributes in use. `item_count` is how many items of the configuration name it.

    `is_there`: the platform has it; None where the platform does not say.
    """

    entity: str
    attribute: str
    item_count: int
    is_there: bool | None

    @property
    def link(self) -> str:
        """Return the address of the attribute's page."""
        return attribute_address(self.entity, self.attribute)


class AttributesPage(StudioPage):
    """Every attribute that is used; those that the platform does not have come first."""

    title = gettext_lazy("Attributes in use")
    permission_required = "designer.view_endpoint"
    template_name = "designer/pages/attributes.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        overview = overview_for(self.request)
        configuration, metadata = overview.configuration, overview.metadata
        index = attribute_index(configuration, metadata.users_entity)
        attributes = [
            ListedAttribute(entity, name, count_items(uses), is_there(name, entity, metadata))
            for (entity, name), uses in index.items()
        ]
        # False sorts before True: attributes that the platform does not have come first.
        ordered = sorted(
            attributes, key=lambda item: (item.is_there is not False, item.entity, item.attribute)
        )
        return super().get_context_data(attributes=ordered, **kwargs)


class AttributePage(StudioPage):
    """One attribute: where it is used, and a form to replace or remove it in all places.

    `entity` and `attribute` in the address name it. A POST shows the changes first, and makes them once they
    are confirmed.
    """

    permission_required = "designer.view_endpoint"
    template_name = "designer/pages/attribute.html"

    @property
    def title(self) -> str:  # type: ignore[override]  # this page's depends on the request
        return _("Attribute %(name)s") % {"name": f"{self._entity}.{self._attribute}"}

    def crumbs(self) -> list[Crumb]:
        return [Crumb(AttributesPage.title, reverse("studio:attributes"))]

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        overview = overview_for(self.request)
        metadata = overview.metadata
        key = self._entity, self._attribute
        uses = attribute_index(overview.configuration, metadata.users_entity).get(key, ())
        offered = choices.attributes(metadata, self._entity)
        return super().get_context_data(
            entity=self._entity,
            attribute=self._attribute,
            is_missing=key in missing_attributes(overview.configuration, metadata),
            where_used=used_places(self.request, _as_uses(uses), overview.configuration),
            count=count_items(uses),
            can_leave_out=any(use.is_safe for use in uses),
            offered=[(name, label) for name, label in offered if name and name != self._attribute],
            may_change=self.request.user.has_perms(_RIGHTS_TO_CHANGE),
            **kwargs,
        )

    def post(self, request: HttpRequest) -> HttpResponseBase:
        """Replace the attribute by `new` or, with `do=remove`, leave it out.

        `confirmed` is the digest of the question that the user has answered. Without it, ask.
        """
        if not request.user.has_perms(_RIGHTS_TO_CHANGE):
            raise PermissionDenied
        new = request.POST.get("new", "").strip()
        replaces = request.POST.get("do") != "remove"
        metadata = overview_for(request).metadata
        try:
            if replaces and new not in metadata.attributes(self._entity):
                return self.show_again(problems=[_("Choose the attribute that takes its place.")])
        except MetadataUnavailable as error:
            return self.show_again(problems=[unavailable_words(error)])
        change = AttributeChange(self._entity, self._attribute, new if replaces else None)
        planned = _PlannedChange(change, users_entity=metadata.users_entity)
        # Also asked again when the configuration has changed since the question.
        if request.POST.get("confirmed") != planned.digest():
            return self._question_page(planned)
        return self._make_change(request, planned)

    def _question_page(self, planned: _PlannedChange) -> HttpResponseBase:
        """Return the page that shows what the change would do, and asks to confirm it."""
        try:
            judgement = judge(planned.plan)
        except DocumentError as error:
            return self.show_again(problems=[said(problem) for problem in error.problems])
        if judgement.plan.does_nothing:
            return self.show_again(
                problems=[_("Nothing would change. Look at each place, and change it there.")]
            )
        if not judgement.is_acceptable():
            return self.show_again(problems=[said(text) for text in judgement.sentences()])
        uses = attribute_index(latest(), planned.users_entity).get((self._entity, self._attribute), ())
        # A replacement changes every place. A removal leaves the attribute where it is needed.
        stays = [use for use in uses if planned.change.new is None and not use.is_safe]
        return self.render_to_response(
            self.get_context_data(
                changes=list(_changes_in_words(judgement.plan)),
                stays=used_places(self.request, _as_uses(stays), latest()) if stays else None,
                new=planned.change.new or "",
                digest=planned.digest(),
            )
        )

    def _make_change(self, request: HttpRequest, planned: _PlannedChange) -> HttpResponseBase:
        """Make the change, or open a proposal of it where it may only be proposed.

        Return the redirect to the page of the attribute that is used now, or to the list without one; or the
        same page with problems.
        """
        change = planned.change
        old_name = f"{change.entity}.{change.old}"
        description = _("“%(old)s” removed.") % {"old": old_name}
        if change.new is not None:
            description = _("“%(old)s” replaced by “%(new)s”.") % {"old": old_name, "new": change.new}
        try:
            # The second document tells the order of user properties, which the change leaves as it is.
            carried_out = carry_out(
                planned.plan, export(latest()), author_of(request, Origin.STUDIO, description)
            )
        except ChangeRefused as refused:
            if redirect := open_as_proposal(request, refused, description):
                return redirect
            tell_refused(request, refused)
            return HttpResponseRedirect(request.get_full_path())
        except DocumentError as error:
            return self.show_again(problems=[said(problem) for problem in error.problems])
        detail = f"replaced by {change.new}" if change.new else "removed"
        note(request, AuditEntry.Action.CHANGE, f"attribute: {old_name}", detail)
        say_done(request, description, carried_out.version)
        used_now = attribute_index(latest(), planned.users_entity)
        if (change.entity, change.new or change.old) not in used_now:
            # An attribute that nothing uses, and that the platform does not have, has no page.
            return HttpResponseRedirect(reverse("studio:attributes"))
        return HttpResponseRedirect(attribute_address(change.entity, change.new or change.old))

    @property
    def _entity(self) -> str:
        return self.request.GET.get("entity", "")

    @property
    def _attribute(self) -> str:
        return self.request.GET.get("attribute", "")

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        # Others are sent to the login, or get 403: they do not learn which attributes there are.
        if request.user.has_perm(self.permission_required) and not self._is_known():
            raise Http404
        return super().dispatch(request, *args, **kwargs)

    def _is_known(self) -> bool:
        """Return whether the attribute in the address is used, or the platform has it or cannot be asked."""
        metadata = overview_for(self.request).metadata
        used = attribute_index(latest(), metadata.users_entity)
        if (self._entity, self._attribute) in used:
            return True
        # None, no answer of the platform, counts as known: nobody can say then that it is not there.
        return is_there(self._attribute, self._entity, metadata) is not False


class _PlannedChange:
    """The replacement or removal of an attribute, and the plan of changes that it takes.

    `users_entity` is the platform's entity of users, whose attributes user properties name.
    """

    def __init__(self, change: AttributeChange, users_entity: str) -> None:
        self.change, self.users_entity = change, users_entity

    def plan(self, now: ConfigurationDocument) -> Plan:
        """Return the plan that changes every item of the configuration `now` that names the attribute."""
        return plan(now, changed_document(now, self.change, self.users_entity), all_groups(now))

    def digest(self) -> str:
        """Return a digest of what the user is asked to confirm: the change, and all that it does now.

        It is another one as soon as the change would do something else, because others changed the
        configuration.
        """
        change = [self.change.entity, self.change.old, self.change.new]
        effects = [item.to_json() for item in self.plan(export(latest())).changes]
        return digest_of([*change, effects])


def attribute_address(entity: str, attribute: str) -> str:
    """Return the address of an attribute's page."""
    query = urlencode({"entity": entity, "attribute": attribute})
    return f"{reverse('studio:attribute')}?{query}"


def _as_uses(uses: Sequence[AttributeUse]) -> list[Use]:
    """Return the uses of an attribute as the uses that *Where used* lists."""
    return [Use(use.used_by, use.place) for use in uses]


def _changes_in_words(planned: Plan) -> Iterator[tuple[str, list[str]]]:
    """Yield the name of each item that the plan changes, with a line for each difference."""
    for change in planned.changes:
        collection = change.collection.field
        before = None if change.before is None else change.before.to_json()
        after = None if change.after is None else change.after.to_json()
        yield describe(collection, change.key), [line.text for line in lines(collection, before, after)]
