"""What the scripts of an endpoint's page know: attributes, input types and names to refer to, as one JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.translation import gettext as _

from crmclient.metadata import Attribute, OptionSet
from designer import configuration as configured
from designer.kinds.record_groups import RecordGroup
from designer.loading import latest
from designer.models import Endpoint
from designer.names import output_key
from designer.queries.answered_columns import answered
from designer.readiness import Metadata
from designer.readiness.fixes import group_input, input_for, names_in_api
from designer.readiness.metadata import MetadataUnavailable
from designer.readiness.subjects import Surroundings
from designer.studio.endpoint_form.list_rows import groups_of, items_written, source_of
from designer.studio.located_findings import input_row
from designer.studio.metadata.choices import facts
from designer.studio.metadata.page_metadata import known_metadata
from designer.studio.metadata.vocabulary import option_set_of, vocabulary_of
from designer.types import TYPES, InputType, natural_type


def page_data(row: Endpoint, metadata: Metadata) -> dict[str, Any]:
    """Return what the page's scripts know: among it `attributes`, which bindings set, and `columns`, which
    are answered, by name in the order of their labels.
    """
    configuration = latest()
    vocabulary = vocabulary_of(row)
    partial = bool(row.operation and row.operation.partial)
    entity = row.entity.entity if row.entity else ""
    return {
        "attributes": described_attributes(vocabulary.written, entity, metadata, partial=partial),
        **_lists(row, metadata),
        "columns": _columns(vocabulary.read),
        "settings": {name: settings_of(type) for name, type in TYPES.items()},
        "settings_of_types": sorted({setting for type in TYPES.values() for setting in settings_of(type)}),
        "lists": _list_types(),
        "on_record": bool(row.operation and row.operation.is_on_record),
        "fetched": fetched_columns(configuration.endpoints.get(row.pk)),
        **user_data(configuration, metadata),
        "texts": {
            "blocking": _("blocking findings"),
            "notes": _("notes"),
            "pasted": _("Rows pasted: %(count)s."),
            "undo": _("Undo"),
            "nothing": _("Nothing matches."),
            "yes": _("Yes"),
            "no": _("No"),
            "empty": _("Empty (null)"),
            "required": _("required"),
            "calculated_column": _("Add a calculated column"),
            "add_parameter": _("Add parameter %(name)s (%(type)s)"),
        },
    }


def settings_of(kind: InputType) -> list[str]:
    """The fields of an input's row that mean something for a type, beside those that all have."""
    renamed = {"allowed": "allowed_text"}
    every = () if kind.holds_records else ("default_text", "nullable")
    return sorted([*(renamed.get(name, name) for name in kind.constraints), *every])


def described_attributes(
    attributes: Mapping[str, Attribute], entity: str, metadata: Metadata, *, partial: bool = False
) -> dict[str, Any]:
    """Return what scripts know of attributes, in the order of their labels; `partial` as for `input_for`."""
    public = names_in_api(attributes)
    return {
        name: _written_attribute(
            attribute, public[name], option_set_of(attribute, entity, metadata), partial=partial
        )
        for name, attribute in _in_order(attributes)
    }


def _lists(row: Endpoint, metadata: Metadata) -> dict[str, Any]:
    """The records that inputs may hold, and what can be written on those that they do hold."""
    if row.operation is None or not row.operation.takes_lists:
        return {}
    groups = groups_of(row)
    used = set(row.inputs.filter(parent=None, type__in=_list_types()).values_list("relationship", flat=True))
    return {
        "relationships": {name: _related(related, metadata) for name, related in sorted(groups.items())},
        **{
            source_of(groups[name]): described_attributes(
                items_written(groups[name]), groups[name].entity, metadata
            )
            for name in used
            if name in groups
        },
    }


def _list_types() -> list[str]:
    """The input types whose rows on the page have rows of their own."""
    return [name for name, kind in TYPES.items() if kind.holds_records]


def _related(group: RecordGroup, metadata: Metadata) -> dict[str, Any]:
    """Return what scripts know of records that an input can hold. `input` is the row of such an input, where
    a button adds one: for parameters of a process.
    """
    entity = metadata.entities().get(group.entity)
    label = (entity.plural_label if group.several else entity.label).text() if entity else ""
    shown = {
        "label": f"{label or group.entity} ({group.parent or group.name})",
        "facts": _("List of records") if group.several else _("Record"),
        "entity": group.entity,
        "lookup": group.parent,
        "required": group.required,
    }
    return shown if group.parent else {**shown, "input": input_row(group_input(group))}


def user_data(
    configuration: configured.Configuration, metadata: Metadata, *, custom: bool = True
) -> dict[str, Any]:
    """Return what expressions may read of a caller. `custom`: include properties that are expressions."""
    return {
        "user": user_values(configuration, metadata, custom=custom),
        "compared": compared_values(configuration),
        "surroundings": {
            "id": "Guid",
            "type": _("the caller type"),
            "roles": _("names of roles"),
            "claims": _("claims of the token"),
            "teams": _("teams: id, name"),
        },
    }


def user_values(
    configuration: configured.Configuration, metadata: Metadata, *, custom: bool = True
) -> dict[str, dict[str, str]]:
    """Return what scripts know of each `@user.…` value, by name. `type` is empty where it is not that of an
    input.
    """
    surroundings = Surroundings(configuration, metadata)
    other = {"related": _("related data"), "custom": _("expression")}
    facts_by_name = {}
    for name, user_property in sorted(surroundings.user_properties.items()):
        if user_property.kind == "custom" and not custom:
            continue
        try:
            column = surroundings.attribute_of(user_property)
        except MetadataUnavailable:
            column = None
        facts_of = {"type": "", "facts": other.get(user_property.kind, user_property.attribute)}
        facts_by_name[name] = _typed(column) if column else facts_of
    return facts_by_name


def compared_values(configuration: configured.Configuration) -> dict[str, str]:
    """Return further values of a caller for conditions, with words for them: type, roles, and claims of
    issuers.
    """
    paths = {path for issuer in configuration.issuers if issuer.enabled for path in issuer.readable_claims}
    return {
        "type": _("the caller type"),
        "roles": _("names of roles, for in and not-in"),
        **{f"claims.{path}": _("claim of the token") for path in sorted(paths)},
    }


def _typed(attribute: Attribute) -> dict[str, str]:
    kind = natural_type(attribute)
    return {"type": kind.name if kind else "", "facts": facts(attribute)}


def fetched_columns(endpoint: configured.Endpoint | None) -> dict[str, dict[str, dict[str, str]]]:
    """Return the columns that `@fetch.…` may read, by fetcher. The endpoint need not be saved."""
    if endpoint is None or endpoint.problem is not None:
        return {}
    metadata = known_metadata()
    try:
        return {
            fetcher.name: {
                key: _typed(column) for key, column in answered(fetcher.query, metadata.attributes).items()
            }
            for fetcher in endpoint.definition.fetchers
            if fetcher.query is not None
        }
    except MetadataUnavailable:
        return {}


def shown_columns(endpoint: configured.Endpoint | None) -> dict[str, Any]:
    """Return what columns may answer, also of an endpoint that is not saved."""
    if endpoint is None or endpoint.problem is not None:
        return {}
    entity = endpoint.entity.entity if endpoint.entity else ""
    try:
        vocabulary = endpoint.definition.settings.vocabulary(entity, known_metadata())
    except MetadataUnavailable:
        return {}
    return _columns(vocabulary.read) if vocabulary else {}


def _in_order(attributes: Mapping[str, Attribute]) -> Iterable[tuple[str, Attribute]]:
    return sorted(attributes.items(), key=lambda item: (item[1].label.text() or item[0]).casefold())


def _columns(attributes: Mapping[str, Attribute]) -> dict[str, Any]:
    """Return what scripts know of attributes that can be answered; `output` is the name of a new column."""
    public = names_in_api(attributes)
    return {
        name: {
            **_read_attribute(attribute),
            "output": public[name] if public[name] != output_key(name) else "",
        }
        for name, attribute in _in_order(attributes)
    }


def _read_attribute(attribute: Attribute) -> dict[str, Any]:
    label = attribute.label.text() or attribute.logical_name
    return {"label": label, "facts": facts(attribute), "type": attribute.type.value}


def _written_attribute(
    attribute: Attribute, public_name: str, options: OptionSet | None, *, partial: bool
) -> dict[str, Any]:
    """Return what scripts know of an attribute that can be written. `partial`: by an update, which need not
    send it.
    """
    kind = natural_type(attribute)
    made = input_for(attribute, public_name, partial=partial)
    shown = _read_attribute(attribute)
    shown["required"] = attribute.is_required
    shown["settable"] = kind is not None and (attribute.updatable if partial else attribute.creatable)
    if kind is not None:
        shown["editor"] = kind.editor
    if made is not None:
        shown["input"] = input_row(made)
    if options is not None:
        shown["options"] = [[str(option.value), option.label.text()] for option in options.options]
    return shown
