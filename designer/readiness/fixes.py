"""What would mend a finding, where that is safe: a change of the definition, for a person to look at.

Each is registered under the id of the rule whose findings it mends.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from django.utils.translation import gettext as _

from crmclient.metadata import Attribute
from designer.definitions import BindingDefinition, EndpointSettings, InputDefinition
from designer.kinds.associate import AssociateSettings
from designer.kinds.files import UploadSettings
from designer.kinds.keys import KeySettings
from designer.kinds.record_groups import RecordGroup
from designer.names import input_name
from designer.parameter_types import parameter_input
from designer.query_parameters import parameters_of
from designer.readiness.findings import Finding
from designer.readiness.subjects import EndpointSubject
from designer.types import TYPES, natural_type, type_of_records


@dataclass(frozen=True, slots=True)
class Fix:
    """`changes` are values by their place in the definition (`inputs.phone.max_length`), in JSON form.
    `inputs` and `bindings` are to be added. `label` says what pressing the button does.
    """

    label: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    inputs: tuple[InputDefinition, ...] = ()
    bindings: tuple[BindingDefinition, ...] = ()


K = TypeVar("K", bound=EndpointSettings)
_Maker: TypeAlias = Callable[[EndpointSubject, str], Fix | None]
_KindMaker: TypeAlias = Callable[[EndpointSubject, K, str], Fix | None]
_FIXES: dict[str, _Maker] = {}


def fix_for(finding: Finding, subject: EndpointSubject) -> Fix | None:
    """The fix for a finding about `subject`; None where a person has to think."""
    make = _FIXES.get(finding.rule)
    return make(subject, finding.field) if make else None


def input_for(attribute: Attribute, *, partial: bool = False) -> InputDefinition | None:
    """An input for an attribute, with what its values must be like; None for a file, which no input holds.

    `partial`: what a call leaves out stays as it is, so nothing is required.
    """
    kind = natural_type(attribute)
    if kind is None:
        return None
    text = "max_length" in kind.constraints and attribute.max_length
    return InputDefinition(
        name=input_name(attribute.logical_name),
        type=kind.name,
        required=attribute.is_required and not partial,
        nullable=not attribute.is_required,
        description=attribute.label.text(),
        max_length=attribute.max_length if text else None,
    )


def group_input(group: RecordGroup) -> InputDefinition:
    """An input that holds the records of a group, without inputs of its own yet."""
    return InputDefinition(
        name=input_name(group.name),
        type=type_of_records(several=group.several).name,
        required=group.required,
        nullable=not group.required,
        relationship=group.name,
    )


def _fixes(*rules: str) -> Callable[[_Maker], _Maker]:
    def register(make: _Maker) -> _Maker:
        _FIXES.update(dict.fromkeys(rules, make))
        return make

    return register


def _fixes_of(settings: type[K], *rules: str) -> Callable[[_KindMaker[K]], _KindMaker[K]]:
    """As `_fixes`, for the kinds that have such settings. The fix gets these beside the endpoint."""

    def register(make: _KindMaker[K]) -> _KindMaker[K]:
        def of_kind(subject: EndpointSubject, place: str) -> Fix | None:
            chosen = subject.definition.settings
            return make(subject, chosen, place) if isinstance(chosen, settings) else None

        _FIXES.update(dict.fromkeys(rules, of_kind))
        return make

    return register


@_fixes("binding-length")
def _tighten(subject: EndpointSubject, place: str) -> Fix | None:
    attribute = subject.bound(_key(place))
    if attribute is None or attribute.max_length is None:
        return None
    longest = attribute.max_length
    return Fix(_("Set the limit to %(count)d") % {"count": longest}, {place: longest})


@_fixes("binding-types")
def _natural(subject: EndpointSubject, place: str) -> Fix | None:
    attribute = subject.bound(_key(place))
    kind = natural_type(attribute) if attribute else None
    return Fix(_("Make it %(type)s") % {"type": kind.name}, {place: kind.name}) if kind else None


@_fixes("record-missing")
def _hand_over(subject: EndpointSubject, place: str) -> Fix | None:
    """Where one record is missing only, so that there is no doubt which one the finding is about."""
    held = {known.relationship for known in subject.inputs}
    offered = subject.definition.settings.record_groups(subject.entity, subject.metadata)
    missing = [group for group in offered.values() if group.required and group.name not in held]
    if len(missing) != 1:
        return None
    return Fix(_("Add an input for it"), inputs=(group_input(missing[0]),))


@_fixes("record-type")
def _hold_as_many(subject: EndpointSubject, place: str) -> Fix | None:
    known = next((one for one in subject.inputs if one.name == _key(place)), None)
    if known is None:
        return None
    other = type_of_records(several=TYPES[known.type].holds_one).name
    return Fix(_("Make it %(type)s") % {"type": other}, {place: other})


@_fixes("required-attribute-optional", "record-optional")
def _require(subject: EndpointSubject, place: str) -> Fix:
    return Fix(_("Make it required"), {place: True})


@_fixes("required-attribute-unbound")
def _bind(subject: EndpointSubject, place: str) -> Fix | None:
    attribute = subject.attributes.get(place.partition(".")[2])
    made = input_for(attribute) if attribute else None
    if attribute is None or made is None:
        return None
    bound = BindingDefinition(attribute=attribute.logical_name, value=made.name)
    new = () if made.name in subject.input_names else (made,)
    return Fix(_("Add an input for it"), inputs=new, bindings=(bound,))


@_fixes("binding-input")
def _define(subject: EndpointSubject, place: str) -> Fix | None:
    name = place.split(".")[1]
    binding = next((known for known in subject.bindings if known.attribute == name), None)
    attribute = subject.attributes.get(name)
    made = input_for(attribute, partial=subject.endpoint.kind.partial) if attribute else None
    if binding is None or made is None or not binding.value:
        return None
    named = made.model_copy(update={"name": str(binding.value)})
    return Fix(_("Add the input %(name)s") % {"name": named.name}, inputs=(named,))


@_fixes("query-values")
def _add_parameter(subject: EndpointSubject, place: str) -> Fix | None:
    name = place.rpartition(".")[2]
    used = [
        (use.operator, attribute)
        for use in parameters_of(subject.definition).get(name, ())
        if (attribute := subject.metadata.attributes(use.entity).get(use.attribute))
    ]
    made = parameter_input(name, used)
    if made is None:
        return None
    label = _("Add parameter %(name)s (%(type)s)") % {"name": name, "type": made.type}
    return Fix(label, inputs=(made,))


@_fixes("input-default-partial", "input-required-default", "input-limits-unused")
def _clear(subject: EndpointSubject, place: str) -> Fix:
    return Fix(_("Clear it"), {place: None})


@_fixes("roles-without-authentication", "anonymous-write")
def _authenticate(subject: EndpointSubject, place: str) -> Fix:
    return Fix(_("Require authentication"), {"authentication_required": True})


@_fixes("platform-versions", "platform-totals")
def _switch_off(subject: EndpointSubject, place: str) -> Fix | None:
    return Fix(_("Switch it off"), {place: False}) if place != "settings.query" else None


@_fixes_of(UploadSettings, "upload-size")
def _fit(subject: EndpointSubject, settings: UploadSettings, place: str) -> Fix | None:
    attribute = subject.metadata.attributes(subject.entity).get(settings.attribute)
    if attribute is None or attribute.max_size is None:
        return None
    return Fix(_("Set it to %(size)d") % {"size": attribute.max_size}, {place: attribute.max_size})


@_fixes_of(KeySettings, "key-unknown")
def _choose_key(subject: EndpointSubject, settings: KeySettings, place: str) -> Fix | None:
    """Where an entity has one alternate key only, it is meant."""
    known = subject.metadata.entities().get(subject.entity)
    return _only([key.name for key in known.keys] if known else [], place)


@_fixes("relationship-unknown", "relationship-not-many-to-many")
def _relate(subject: EndpointSubject, place: str) -> Fix | None:
    """Where an entity has one many-to-many relationship only, it is meant."""
    known = subject.metadata.relationships(subject.entity)
    leading = [one.name for one in known if one.other_end(subject.entity) is not None]
    return _only(leading, place)


@_fixes_of(AssociateSettings, "related-entity")
def _choose_related(subject: EndpointSubject, settings: AssociateSettings, place: str) -> Fix | None:
    known = settings.relationship_among(subject.metadata.relationships(subject.entity))
    other = None if known is None else known.other_end(subject.entity)
    exposed = [one.segment for one in subject.endpoint.exposures if one.entity == other]
    return _only(exposed, place)


def _only(known: list[str], place: str) -> Fix | None:
    if len(known) != 1:
        return None
    return Fix(_("Choose %(name)s") % {"name": known[0]}, {place: known[0]})


def _key(place: str) -> str:
    """The input in `inputs.phone.max_length`."""
    return place.split(".")[1]
