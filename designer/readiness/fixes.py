"""Fixes of findings, where they are safe: changes of the definition, for a person to look at.

Each is registered under the id of the rule whose findings it fixes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, TypeVar

from django.utils.translation import gettext as _

from crmclient.metadata import Attribute
from designer.definitions import BindingDefinition, ColumnDefinition, EndpointSettings, InputDefinition
from designer.endpoint_facts.column_keys import keys_in_answer
from designer.endpoint_facts.parameter_types import parameter_input
from designer.endpoint_facts.query_parameters import parameters_of
from designer.kinds.associate import AssociateSettings
from designer.kinds.file_sizes import size_in_words
from designer.kinds.files import UploadSettings
from designer.kinds.keys import KeySettings
from designer.kinds.record_groups import RecordGroup
from designer.names import input_name, is_input_name, public_names
from designer.readiness.findings import Finding
from designer.readiness.subjects import EndpointSubject
from designer.types import TYPES, natural_type, type_of_records


@dataclass(frozen=True, slots=True)
class Fix:
    """A change of a definition that a button offers.

    `changes` are values in JSON form by their place in the definition (`inputs.phone.max_length`). `inputs`
    and `bindings` are added. `label` says what the button does.
    """

    label: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    inputs: tuple[InputDefinition, ...] = ()
    bindings: tuple[BindingDefinition, ...] = ()


K = TypeVar("K", bound=EndpointSettings)
# Functions that make the fix for a finding about the subject. The text is the place of the finding in the
# definition. A maker of a kind gets the settings of the kind as well. None: a person has to decide.
_Maker: TypeAlias = Callable[[EndpointSubject, str], Fix | None]
_KindMaker: TypeAlias = Callable[[EndpointSubject, K, str], Fix | None]
_FIXES: dict[str, _Maker] = {}
# The place of findings about a query as a whole. A name behind it and a dot is that of one parameter.
_QUERY = "settings.query"
_INSIDE_OF_QUERY = re.compile(r"(settings\.query|fetchers\.[^.]+\.query|row_rule)\.")


def fix_for(finding: Finding, subject: EndpointSubject) -> Fix | None:
    """Return the fix for a finding about `subject`; None where a person has to decide."""
    make = _FIXES.get(finding.rule)
    return make(subject, finding.field) if make else None


def names_in_api(attributes: Mapping[str, Attribute]) -> dict[str, str]:
    """Return the name that an API gives each of the attributes of an entity, by logical name."""

    def keys_in_answers(attribute: str, name: str) -> Iterable[str]:
        return keys_in_answer(
            ColumnDefinition(attribute=attribute, name=name), attributes[attribute], labels=True
        )

    labels = {name: _label_for_name(attribute) for name, attribute in attributes.items()}
    return public_names(labels, keys_in_answers)


def _label_for_name(attribute: Attribute) -> str:
    """Return the label of an attribute, from which its name in the API is made.

    It is "" for a primary name such as `name` with the label “Account Name”: the name `name` is enough.
    """
    label, own = attribute.label.text(), input_name(attribute.logical_name)
    return "" if attribute.is_primary_name and label.lower().endswith(f" {own}") else label


def input_for(attribute: Attribute, name: str, *, partial: bool = False) -> InputDefinition | None:
    """Return an input called `name` for an attribute, with its limits; None for a file, which no input holds.

    `partial`: calls may leave it out, so that the attribute stays as it is.
    """
    input_type = natural_type(attribute)
    if input_type is None:
        return None
    has_length_limit = "max_length" in input_type.constraints and attribute.max_length
    return InputDefinition(
        name=name,
        type=input_type.name,
        required=attribute.is_required and not partial,
        nullable=not attribute.is_required,
        description=attribute.label.text(),
        max_length=attribute.max_length if has_length_limit else None,
    )


def group_input(group: RecordGroup) -> InputDefinition:
    """Return an input that holds the records of a group. It has no inputs of its own yet."""
    return InputDefinition(
        name=input_name(group.name),
        type=type_of_records(several=group.several).name,
        required=group.required,
        nullable=not group.required,
        relationship=group.name,
    )


def _fixes(*rules: str) -> Callable[[_Maker], _Maker]:
    """Register a function that makes the fix for findings of `rules`."""

    def register(make: _Maker) -> _Maker:
        _FIXES.update(dict.fromkeys(rules, make))
        return make

    return register


def _fixes_of(settings: type[K], *rules: str) -> Callable[[_KindMaker[K]], _KindMaker[K]]:
    """Register as `_fixes` does, for kinds with settings of this class, which the function gets as well."""

    def register(make: _KindMaker[K]) -> _KindMaker[K]:
        def of_kind(subject: EndpointSubject, place: str) -> Fix | None:
            chosen = subject.definition.settings
            return make(subject, chosen, place) if isinstance(chosen, settings) else None

        _FIXES.update(dict.fromkeys(rules, of_kind))
        return make

    return register


@_fixes("binding-length")
def _tighten_length(subject: EndpointSubject, place: str) -> Fix | None:
    """Return a fix that limits an input to the shortest length of the attributes that it sets; None when none
    has a length, and where the input asks for longer texts.
    """
    name = _name_in(place)
    bound = subject.attributes_set_by(name)
    lengths = [attribute.max_length for attribute in bound if attribute.max_length is not None]
    least = next((own.min_length or 0 for own in subject.inputs if own.name == name), 0)
    if not lengths or least > min(lengths):
        return None
    return Fix(_("Set the limit to %(count)d") % {"count": min(lengths)}, {place: min(lengths)})


@_fixes("binding-types")
def _use_natural_type(subject: EndpointSubject, place: str) -> Fix | None:
    """Return a fix that makes an input what its attribute holds; None for attributes of different types."""
    types = [natural_type(attribute) for attribute in subject.attributes_set_by(_name_in(place))]
    names = {input_type.name for input_type in types if input_type is not None}
    if len(names) != 1:
        return None
    (name,) = names
    return Fix(_("Make it %(type)s") % {"type": name}, {place: name})


@_fixes("record-missing")
def _add_missing_record(subject: EndpointSubject, place: str) -> Fix | None:
    """Return a fix that adds the missing record, if exactly one is missing, so that the finding must be
    about it.
    """
    handed_over = {record_input.relationship for record_input in subject.inputs}
    offered = subject.definition.settings.record_groups(subject.entity, subject.metadata)
    missing = [group for group in offered.values() if group.required and group.name not in handed_over]
    if len(missing) != 1:
        return None
    return _adding(group_input(missing[0]))


@_fixes("record-type")
def _swap_record_and_list(subject: EndpointSubject, place: str) -> Fix | None:
    """Return a fix that makes a list of records of one record, or the reverse."""
    input_definition = next(
        (definition for definition in subject.inputs if definition.name == _name_in(place)), None
    )
    if input_definition is None:
        return None
    other = type_of_records(several=TYPES[input_definition.type].holds_one).name
    return Fix(_("Make it %(type)s") % {"type": other}, {place: other})


@_fixes("required-attribute-optional", "record-optional")
def _require(subject: EndpointSubject, place: str) -> Fix:
    """Return a fix that makes an input required. `place` is that of its `required`."""
    return Fix(_("Make it required"), {place: True})


@_fixes("required-attribute-unbound")
def _bind_to_input(subject: EndpointSubject, place: str) -> Fix | None:
    """Return a fix that binds an attribute to an input, which it adds if need be."""
    attribute = subject.attributes.get(place.partition(".")[2])
    if attribute is None:
        return None
    public = names_in_api(subject.attributes)[attribute.logical_name]
    # An input that is there may be named after the label of the attribute, or after its logical name.
    candidates = (public, input_name(attribute.logical_name))
    existing = (own for own in (_input_in_any_case(subject, name) for name in candidates) if own is not None)
    new_input = input_for(attribute, next(existing, public))
    if new_input is None:
        return None
    bound = BindingDefinition(attribute=attribute.logical_name, value=new_input.name)
    # An input of that name is there already. It only needs the binding.
    if new_input.name in subject.input_names:
        return Fix(_("Bind it to the input %(name)s") % {"name": new_input.name}, bindings=(bound,))
    return _adding(new_input, bound)


@_fixes("binding-input")
def _define_input(subject: EndpointSubject, place: str) -> Fix | None:
    """Return a fix that adds the input that a binding names; None where no input can have that name, and
    where an input differs only in upper and lower case.
    """
    attribute_name = _name_in(place)
    binding = next(
        (candidate for candidate in subject.bindings if candidate.attribute == attribute_name), None
    )
    attribute = subject.attributes.get(attribute_name)
    if binding is None or attribute is None or not binding.value:
        return None
    name = str(binding.value)
    if not is_input_name(name) or _input_in_any_case(subject, name) is not None:
        return None
    new_input = input_for(attribute, name, partial=subject.endpoint.kind.partial)
    return None if new_input is None else _adding(new_input)


@_fixes("query-values", "fetcher-values")
def _add_parameter(subject: EndpointSubject, place: str) -> Fix | None:
    """Return a fix that adds the input for a parameter of a query; None where no input can have that name,
    where its type is not known, and where an input differs only in upper and lower case.
    """
    name = _parameter_in(place)
    if not is_input_name(name) or _input_in_any_case(subject, name) is not None:
        return None
    new_input = _parameter(subject, name)
    if new_input is None:
        return None
    label = _("Add parameter %(name)s (%(type)s)") % {"name": name, "type": new_input.type}
    return Fix(label, inputs=(new_input,))


@_fixes("row-rule-values")
def _require_parameter(subject: EndpointSubject, place: str) -> Fix | None:
    """Return a fix that adds the input for a parameter of the row rule, or makes it required: without a value
    for it, the row rule would let callers reach more records.
    """
    name = _parameter_in(place)
    if name in subject.input_names:
        return _require(subject, f"inputs.{name}.required")
    fix = _add_parameter(subject, place)
    if fix is None:
        return None
    (new_input,) = fix.inputs
    return replace(fix, inputs=(new_input.model_copy(update={"required": True, "nullable": False}),))


@_fixes("query-input-type")
def _use_type_of_conditions(subject: EndpointSubject, place: str) -> Fix | None:
    """Return a fix that gives a parameter the type that all of its conditions take; None where none does."""
    fitting = _parameter(subject, _name_in(place))
    if fitting is None:
        return None
    return Fix(_("Make it %(type)s") % {"type": fitting.type}, {place: fitting.type})


@_fixes("input-default-partial", "input-limits-unused")
def _clear_value(subject: EndpointSubject, place: str) -> Fix:
    """Return a fix that removes the value at `place`."""
    return Fix(_("Clear it"), {place: None})


@_fixes("roles-without-authentication", "anonymous-write")
def _authenticate(subject: EndpointSubject, place: str) -> Fix:
    """Return a fix that lets only callers with a token call."""
    return Fix(_("Require authentication"), {"authentication_required": True})


@_fixes("platform-versions", "platform-totals")
def _switch_off(subject: EndpointSubject, place: str) -> Fix | None:
    """Return a fix that sets the switch at `place` to false; None where the FetchXML of the query says it."""
    return Fix(_("Switch it off"), {place: False}) if place != _QUERY else None


@_fixes_of(UploadSettings, "upload-size")
def _fit_size(subject: EndpointSubject, settings: UploadSettings, place: str) -> Fix | None:
    """Return a fix that limits uploads to the size of the file column; None when that is not known."""
    attribute = subject.metadata.attributes(subject.entity).get(settings.attribute)
    if attribute is None or attribute.max_size is None:
        return None
    size = {"size": size_in_words(attribute.max_size)}
    return Fix(_("Set it to %(size)s") % size, {place: attribute.max_size})


@_fixes_of(KeySettings, "key-unknown")
def _choose_key(subject: EndpointSubject, settings: KeySettings, place: str) -> Fix | None:
    """Return a fix that chooses the alternate key of an entity that has only one."""
    entity = subject.metadata.entities().get(subject.entity)
    return _choose_only([key.name for key in entity.keys] if entity else [], place)


@_fixes("relationship-unknown", "relationship-not-many-to-many")
def _choose_relationship(subject: EndpointSubject, place: str) -> Fix | None:
    """Return a fix that chooses the many-to-many relationship of an entity that has only one."""
    relationships = subject.metadata.relationships(subject.entity)
    leading = [
        relationship.name
        for relationship in relationships
        if relationship.other_end(subject.entity) is not None
    ]
    return _choose_only(leading, place)


@_fixes_of(AssociateSettings, "related-entity")
def _choose_related(subject: EndpointSubject, settings: AssociateSettings, place: str) -> Fix | None:
    """Return a fix that chooses the exposed entity that the relationship leads to; None when the module
    exposes it several times, or not at all.
    """
    relationship = settings.relationship_among(subject.metadata.relationships(subject.entity))
    other = None if relationship is None else relationship.other_end(subject.entity)
    exposed = [exposure.segment for exposure in subject.endpoint.exposures if exposure.entity == other]
    return _choose_only(exposed, place)


def _adding(new_input: InputDefinition, *bindings: BindingDefinition) -> Fix:
    """Return a fix that adds an input, and `bindings` of it."""
    label = _("Add the input %(name)s") % {"name": new_input.name}
    return Fix(label, inputs=(new_input,), bindings=bindings)


def _parameter(subject: EndpointSubject, name: str) -> InputDefinition | None:
    """Return an input that fits all conditions with the parameter `name`; None where no type does."""
    used = [
        (use.operator, attribute)
        for use in parameters_of(subject.definition).get(name, ())
        # The definition does not name the entity of a row rule that is not about a query.
        if (attribute := subject.metadata.attributes(use.entity or subject.entity).get(use.attribute))
    ]
    return parameter_input(name, used)


def _choose_only(names: list[str], place: str) -> Fix | None:
    """Return a fix that chooses the only one of `names`; None when there are none, or several."""
    if len(names) != 1:
        return None
    return Fix(_("Choose %(name)s") % {"name": names[0]}, {place: names[0]})


def _input_in_any_case(subject: EndpointSubject, name: str) -> str | None:
    """Return the name of the input that is called `name` in whatever case; None without such an input."""
    return next((own for own in subject.input_names if own.lower() == name.lower()), None)


def _parameter_in(place: str) -> str:
    """Return the parameter in a place: `topic` in `settings.query.topic`, `fetchers.cases.query.topic` and
    `row_rule.topic`; "" in a place without one.
    """
    inside = _INSIDE_OF_QUERY.match(place)
    return place[inside.end() :] if inside else ""


def _name_in(place: str) -> str:
    """Return the name in a place: `phone` in `inputs.phone.max_length`."""
    return place.split(".")[1]
