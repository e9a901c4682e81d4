"""The row rule on the page of an exposed entity: its entries, and what other exposures of the entity have."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from django import forms
from django.contrib.admin import display
from django.db.models import Model
from django.http import HttpRequest
from django.utils.functional import cached_property
from django.utils.text import capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from pydantic import ValidationError

from designer.configuration import Configuration
from designer.definitions import ExposedEntityDefinition
from designer.definitions import RowRuleEntry as EntryDefinition
from designer.definitions.row_rules import in_one_order, is_open
from designer.history.item_keys import item_key
from designer.loading import latest
from designer.models import ExposedEntity, Role, RowRuleEntry
from designer.queries.query_wording import filter_in_words
from designer.readiness import Finding
from designer.readiness.metadata import Metadata, MetadataUnavailable
from designer.sentences import Sentence
from designer.studio.endpoint_form.fetchxml_fields import FetchXmlField
from designer.studio.look import StackedInline, dress
from designer.studio.metadata.page_metadata import known_metadata
from designer.studio.navigation.row_addresses import row_addresses
from designer.studio.rule_columns import shown_entries, shown_role
from designer.studio.sent_numbers import RowsField

# How the fields of findings about an entry begin; the entry's number follows.
ENTRY = "entity.row_rule."

# The name of the tick that confirms that all callers may reach every record, and the question above it.
OPENS = "_opens"
ASKED = Sentence(
    "All callers would reach every record of this entity. Nothing was saved. If you mean that, tick “All "
    "callers may reach every record” below, and save again."
)


class RowRuleForm(forms.ModelForm):  # type: ignore[type-arg]
    """One entry of a row rule. `callers` has its roles, which are a relation of the row."""

    callers = RowsField(
        Role.objects.none(),
        required=False,
        label=_("Roles"),
        help_text=RowRuleEntry._meta.get_field("roles").help_text,
        widget=forms.CheckboxSelectMultiple,
    )
    filter = FetchXmlField(
        "filter",
        label=capfirst(_("filter")),
        help_text=RowRuleEntry._meta.get_field("filter").help_text,
    )
    # The findings for which the same save was refused before.
    findings: Collection[Finding] = ()

    class Meta:
        model = RowRuleEntry
        fields = ("filter", "all_records")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Accounts that may only look at the rule get a form without the field.
        if "callers" not in self.fields:
            return
        callers_field: Any = self.fields["callers"]
        callers_field.queryset = Role.objects.all()
        dress(callers_field)
        if self.instance.pk:
            self.initial["callers"] = [role.pk for role in self.instance.roles.all()]

    def clean(self) -> dict[str, Any] | None:
        """Let the row judge what was typed: it would call a filter that was refused an empty one."""
        if "filter" in self.errors:
            self.instance.filter = self["filter"].value() or ""
        return super().clean()

    @cached_property
    def definition(self) -> EntryDefinition | None:
        """The entry that the form describes; None if it has errors, was left empty, or is to be deleted."""
        fields = self.cleaned_data if self.is_valid() else {}
        if not fields or fields.get("DELETE"):
            return None
        try:
            return EntryDefinition(
                roles=tuple(role.name for role in fields["callers"]),
                filter=fields["filter"],
                all_records=fields["all_records"],
            )
        except ValidationError:
            return None

    def _save_m2m(self) -> None:
        """Save the roles. Django's form saves only relations that have a field of their own name."""
        super()._save_m2m()  # type: ignore[misc]  # not in the stubs
        if "callers" in self.cleaned_data:
            self.instance.roles.set(self.cleaned_data["callers"])


class RowRuleFormSet(forms.BaseInlineFormSet):  # type: ignore[type-arg]
    """The entries of a row rule. `refused` are the findings for which the same save was refused before.

    `role` is the role that a new entry is for, empty or None for everyone.
    """

    refused: Collection[Finding] = ()
    role: str | None = None

    def add_fields(self, form: Any, index: int | None) -> None:
        """Tell the form what it cannot know by itself: the entity of its filter, and the roles to choose."""
        super().add_fields(form, index)
        if "filter" in form.fields:
            form.fields["filter"].set_entity(self.instance.entity)
        if "callers" in form.fields:
            form.fields["callers"].widget.choices = self.role_choices
            if self.role and not form.instance.pk:
                form.initial["callers"] = [pk for pk, name in self.role_names.items() if name == self.role]

    @cached_property
    def role_choices(self) -> list[tuple[int, str]]:
        """Return the row ids and labels of all roles, read once for all entries."""
        return [(role.pk, str(role)) for role in self._roles]

    @cached_property
    def role_names(self) -> dict[int, str]:
        """Return the names of all roles by row id."""
        return {role.pk: role.name for role in self._roles}

    @cached_property
    def _roles(self) -> list[Role]:
        return list(Role.objects.all())

    def clean(self) -> None:
        """Add the findings of a refused save as errors, each to the entry that it is about."""
        super().clean()
        rows: list[Any] = self.forms
        # Findings name entries by their numbers in the saved rule, which sorts them and drops duplicates.
        order = in_one_order(tuple(row.definition for row in rows if row.definition is not None))
        for row in rows:
            place = f"{ENTRY}{order.index(row.definition)}" if row.definition in order else None
            # Without duplicates.
            sentences = dict.fromkeys(finding.said for finding in self.refused if finding.field == place)
            if sentences:
                row.add_error("filter", list(sentences))


class RowRuleInline(StackedInline):
    """The row rule on the page of an exposed entity: a small form for each entry."""

    model = RowRuleEntry
    verbose_name = _("row rule entry")
    verbose_name_plural = _("row rule: which records callers reach (without an entry: all)")
    form = RowRuleForm
    formset = RowRuleFormSet
    # Entries have no order.
    ordering_field = ""

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        callers = "callers" if self._may_edit(request, obj) else "callers_shown"
        return ((None, {"fields": (callers, "all_records", "filter")}),)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return () if self._may_edit(request, obj) else ("callers_shown", "all_records", "filter")

    @display(description=_("Roles"))
    def callers_shown(self, row: RowRuleEntry) -> str:
        return ", ".join(role.name for role in row.roles.all()) or gettext("Everyone")

    def get_queryset(self, request: HttpRequest) -> Any:
        return shown_entries(request, super().get_queryset(request)).prefetch_related("roles")

    def get_formset(self, request: HttpRequest, obj: ExposedEntity | None = None, **kwargs: Any) -> Any:
        formset = super().get_formset(request, obj, **kwargs)
        # `checked_save` leaves them at the request.
        formset.refused = getattr(request, "refused", ())
        formset.role = shown_role(request)
        return formset

    def get_extra(self, request: HttpRequest, obj: ExposedEntity | None = None, **kwargs: Any) -> int:
        """Return the number of empty entries that the page begins with.

        One where the page shows the entries of one role, or of everyone, and there are none; else none.
        """
        if obj is None or shown_role(request) is None:
            return 0
        return 0 if shown_entries(request, obj.row_rule.all()).exists() else 1

    def _may_edit(self, request: HttpRequest, obj: Any) -> bool:
        return self.has_change_permission(request, obj) or self.has_add_permission(request, obj)

    # Entries are part of the exposed entity: who may change that may change them.
    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.has_perm("designer.view_exposedentity") or self.has_change_permission(request)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.has_perm("designer.change_exposedentity")

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        # The page of a new exposed entity has no row yet. Only the right to add is needed there.
        permission = "change" if obj else "add"
        return request.user.has_perm(f"designer.{permission}_exposedentity")

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_change_permission(request)


def opens_all_records(before: Configuration, after: Configuration, row: Model) -> bool:
    """Return whether the change lets all callers reach every record of the exposed entity in `row`.

    `before` and `after` are the configurations. An entity that was open before, or was new, opens nothing.
    """
    key = item_key(row, after)
    rule_before, rule_after = (
        # An entity that is new has no rule yet, which counts as open.
        next((exposed.row_rule for exposed in configuration.entities if ("entities", exposed.key) == key), ())
        for configuration in (before, after)
    )
    return not is_open(rule_before) and is_open(rule_after)


class AlsoExposed(NamedTuple):
    """An exposure of an entity, with its row rule in words. `id` is the row id, `name` such as
    `sales/accounts`. `is_other`: its rule differs from that of the exposure on whose page it is shown.
    """

    id: int
    name: str
    rule: list[str]
    is_other: bool


def also_exposed(row: ExposedEntity) -> list[AlsoExposed]:
    """Return the exposure of `row`, then the other exposures of the same entity, each with its row rule.

    Return nothing where the entity is exposed only once.
    """
    ids = {(module, segment): id for id, module, segment in _exposures_of(row.entity)}
    exposures = [exposure for exposure in latest().entities if (exposure.module, exposure.segment) in ids]
    this_exposure = next(
        (exposure for exposure in exposures if ids[exposure.module, exposure.segment] == row.pk), None
    )
    if this_exposure is None or len(exposures) < 2:
        return []
    return [
        AlsoExposed(
            ids[exposure.module, exposure.segment],
            f"{exposure.module}/{exposure.segment}",
            list(_rule_in_words(exposure)),
            exposure.row_rule != this_exposure.row_rule,
        )
        # False sorts before True: this exposure comes first.
        for exposure in sorted(exposures, key=lambda exposure: (exposure is not this_exposure, exposure.key))
    ]


def entity_pages(configuration: Configuration) -> dict[str, str]:
    """Return the addresses of the studio's pages of exposed entities, by the entities' keys."""
    address = row_addresses("admin:designer_exposedentity_change")
    entities = configuration.ids.entities if configuration.ids else {}
    return {exposed.key: address(id) for id, exposed in entities.items()}


def entry_in_words(exposed: ExposedEntityDefinition, entry: EntryDefinition, metadata: Metadata) -> str:
    """Return an entry of a row rule in words: its roles, and the records that callers with one reach."""
    who = ", ".join(entry.roles) or gettext("Everyone")
    return f"{who}: {_records_in_words(exposed, entry, metadata)}"


def _rule_in_words(exposed: ExposedEntityDefinition) -> Iterator[str]:
    """Yield a text for each entry of the row rule, or one that says that there is no rule."""
    metadata = known_metadata()
    for entry in exposed.row_rule:
        yield entry_in_words(exposed, entry, metadata)
    if not exposed.row_rule:
        yield gettext("No row rule: callers reach all records.")


def _records_in_words(exposed: ExposedEntityDefinition, entry: EntryDefinition, metadata: Metadata) -> str:
    """Return the records of an entry in words. Without metadata, the text only says that it has a filter."""
    if entry.filter is None:
        return gettext("all records")
    try:
        return filter_in_words(entry.filter, exposed.entity, metadata.attributes)
    except MetadataUnavailable:
        return gettext("a filter")


def _exposures_of(entity: str) -> list[tuple[int, str, str]]:
    """Return row id, module segment and own segment of each exposure of the entity."""
    rows = ExposedEntity.objects.filter(entity=entity)
    return list(rows.values_list("id", "module__segment", "segment"))
