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
from designer.names import OWN_RECORD, output_key
from designer.queries.answered_columns import answered_attributes
from designer.readiness import Metadata
from designer.readiness.fixes import group_input, input_for, names_in_api
from designer.readiness.metadata import MetadataUnavailable
from designer.readiness.subjects import Surroundings
from designer.studio.endpoint_form.list_rows import groups_of, page_data_key, writable_attributes_of
from designer.studio.located_findings import input_row
from designer.studio.metadata.choices import facts
from designer.studio.metadata.page_metadata import known_metadata
from designer.studio.metadata.vocabulary import option_set_of, vocabulary_of
from designer.types import TYPES, InputType, natural_type, record_types


def page_data(row: Endpoint, metadata: Metadata) -> dict[str, Any]:
    """Return what the page's scripts know, as JSON.

    - `attributes`: those that bindings set, by name, in the order of their labels
    - `columns`: those that are answered, in the same form
    - `relationships`, and a key for each group of records that an input holds: see `_record_groups`
    - `settings`: the fields of an input's row by input type; `settings_of_types`: all of these fields
    - `lists`: the input types whose values hold records
    - `on_record`: whether calls are on a record that is there
    - `fetched`: the columns of data fetchers; `user`, `compared`, `surroundings`: what expressions may read
    - `texts`: what the scripts say, in the language of the page
    """
    configuration = latest()
    vocabulary = vocabulary_of(row)
    fields_by_type = {name: _fields_of(input_type) for name, input_type in TYPES.items()}
    partial = bool(row.operation and row.operation.partial)
    entity = row.entity.entity if row.entity else ""
    return {
        "attributes": described_attributes(vocabulary.written, entity, metadata, partial=partial),
        **_record_groups(row, metadata),
        "columns": _described_columns(vocabulary.read),
        "settings": fields_by_type,
        "settings_of_types": sorted({field for fields in fields_by_type.values() for field in fields}),
        "lists": record_types(),
        "on_record": bool(row.operation and row.operation.is_on_record),
        "fetched": fetched_columns(configuration.endpoints.get(row.pk)),
        **user_data(configuration, metadata),
        "texts": {
            "blocking": _("blocking findings"),
            "notes": _("notes"),
            "pasted": _("Rows pasted: %(count)s."),
            "undo": _("Undo"),
            "yes": _("Yes"),
            "no": _("No"),
            "empty": _("Empty (null)"),
            "required": _("required"),
            "calculated_column": _("Add a calculated column"),
            "add_parameter": _("Add parameter %(name)s (%(type)s)"),
        },
    }


def _fields_of(input_type: InputType) -> list[str]:
    """Return the fields of an input's row that a type has, beside those that all types have."""
    # Fields of values are texts, and named so.
    renamed = {"allowed": "allowed_text", "default": "default_text"}
    return sorted(renamed.get(name, name) for name in input_type.settings)


def described_attributes(
    attributes: Mapping[str, Attribute], entity: str, metadata: Metadata, *, partial: bool = False
) -> dict[str, Any]:
    """Return what scripts know of attributes, in the order of their labels; `partial` as for `input_for`."""
    public = names_in_api(attributes)
    return {
        name: _described_writable_attribute(
            attribute, public[name], option_set_of(attribute, entity, metadata), partial=partial
        )
        for name, attribute in _sorted_by_label(attributes)
    }


def _record_groups(row: Endpoint, metadata: Metadata) -> dict[str, Any]:
    """Return what scripts know of the groups of records that inputs may hold. A kind without lists has none.

    `relationships` has all groups by name. For each group that an input holds, the attributes of its records
    stand under `page_data_key`.
    """
    if row.operation is None or not row.operation.takes_lists:
        return {}
    groups = groups_of(row)
    used = set(row.inputs.filter(parent=None, type__in=record_types()).values_list("relationship", flat=True))
    return {
        "relationships": {name: _described_group(group, metadata) for name, group in sorted(groups.items())},
        **{
            page_data_key(groups[name]): described_attributes(
                writable_attributes_of(groups[name]), groups[name].entity, metadata
            )
            for name in used
            if name in groups
        },
    }


def _described_group(group: RecordGroup, metadata: Metadata) -> dict[str, Any]:
    """Return what scripts know of records that an input can hold. `input` is the row of such an input, where
    a button adds one: for parameters of a process.
    """
    entity = metadata.entities().get(group.entity)
    label = (entity.plural_label if group.several else entity.label).text() if entity else ""
    described = {
        "label": f"{label or group.entity} ({group.parent or group.name})",
        "facts": _("List of records") if group.several else _("Record"),
        "entity": group.entity,
        "lookup": group.parent,
        "required": group.required,
    }
    # A group without a parent is a parameter of a process.
    return described if group.parent else {**described, "input": input_row(group_input(group))}


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
    words_by_kind = {"related": _("related data"), "custom": _("expression")}
    facts_by_name = {OWN_RECORD: {"type": "Guid", "facts": _("the caller's record")}}
    for name, user_property in sorted(surroundings.user_properties.items()):
        if user_property.kind == "custom" and not custom:
            continue
        try:
            column = surroundings.attribute_of(user_property)
        except MetadataUnavailable:
            column = None
        described = {"type": "", "facts": words_by_kind.get(user_property.kind, user_property.attribute)}
        facts_by_name[name] = _type_and_facts(column) if column else described
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


def _type_and_facts(attribute: Attribute) -> dict[str, str]:
    """Return the `type` of an input for the attribute (empty for files), and its `facts` in words."""
    input_type = natural_type(attribute)
    return {"type": input_type.name if input_type else "", "facts": facts(attribute)}


def fetched_columns(endpoint: configured.Endpoint | None) -> dict[str, dict[str, dict[str, str]]]:
    """Return the columns that `@fetch.…` may read, by fetcher and by column. The endpoint need not be saved.

    Empty for an endpoint that cannot be read, and while the platform cannot say.
    """
    if endpoint is None or endpoint.problem is not None:
        return {}
    metadata = known_metadata()
    try:
        return {
            fetcher.name: {
                key: _type_and_facts(column)
                for key, column in answered_attributes(fetcher.query, metadata.attributes).items()
            }
            for fetcher in endpoint.definition.fetchers
            if fetcher.query is not None
        }
    except MetadataUnavailable:
        return {}


def shown_columns(endpoint: configured.Endpoint | None) -> dict[str, Any]:
    """Return what columns may answer, by name. The endpoint need not be saved.

    Empty for an endpoint that cannot be read, and while the platform cannot say.
    """
    if endpoint is None or endpoint.problem is not None:
        return {}
    entity = endpoint.entity.entity if endpoint.entity else ""
    try:
        vocabulary = endpoint.definition.settings.vocabulary(entity, known_metadata())
    except MetadataUnavailable:
        return {}
    return _described_columns(vocabulary.read) if vocabulary else {}


def _sorted_by_label(attributes: Mapping[str, Attribute]) -> Iterable[tuple[str, Attribute]]:
    return sorted(attributes.items(), key=lambda item: (item[1].label.text() or item[0]).casefold())


def _described_columns(attributes: Mapping[str, Attribute]) -> dict[str, Any]:
    """Return what scripts know of attributes that can be answered.

    `output` is the name of a new column; empty where the column has that name without being given one.
    """
    public = names_in_api(attributes)
    return {
        name: {
            **_described_attribute(attribute),
            "output": public[name] if public[name] != output_key(name) else "",
        }
        for name, attribute in _sorted_by_label(attributes)
    }


def _described_attribute(attribute: Attribute) -> dict[str, Any]:
    label = attribute.label.text() or attribute.logical_name
    return {"label": label, "facts": facts(attribute), "type": attribute.type.value}


def _described_writable_attribute(
    attribute: Attribute, public_name: str, options: OptionSet | None, *, partial: bool
) -> dict[str, Any]:
    """Return what scripts know of an attribute that can be written.

    `partial`: an update writes it, which need not send it. `input` is the row of a new input for the
    attribute.
    """
    input_type = natural_type(attribute)
    new_input = input_for(attribute, public_name, partial=partial)
    described = _described_attribute(attribute)
    described["required"] = attribute.is_required
    described["settable"] = input_type is not None and (
        attribute.updatable if partial else attribute.creatable
    )
    if input_type is not None:
        described["editor"] = input_type.editor
    if new_input is not None:
        described["input"] = input_row(new_input)
    if options is not None:
        described["options"] = [[str(option.value), option.label.text()] for option in options.options]
    return described
