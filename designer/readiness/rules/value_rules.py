"""Whether what a binding gives can be what its attribute holds: of user properties, fetchers, expressions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from crmclient import Reference
from crmclient.metadata import Attribute, RequiredLevel
from crmclient.query.families import FAMILY, Family
from designer.definitions import BindingDefinition, InputDefinition
from designer.expressions import ExpressionError
from designer.kinds import Section
from designer.names import OWN_RECORD
from designer.queries.answered_columns import answered_attributes
from designer.readiness.expressions import constant_result, path_of, result_for_samples
from designer.readiness.metadata import Metadata
from designer.readiness.registry import Found, blocking, warning
from designer.readiness.samples import (
    UNKNOWN,
    Sample,
    sample_of_attribute,
    sample_of_user,
    samples_for_endpoint,
)
from designer.readiness.subjects import EndpointSubject
from designer.sentences import Sentence as _
from designer.types import TYPES, InvalidInput, Limits, as_sent, least_length, may_hold, natural_type

# Values that empty an attribute.
_EMPTY: tuple[Any, ...] = (None, "", [], ())


@dataclass(frozen=True, slots=True)
class PossibleValues:
    """The values that a source may give: `words` for the source, and a sample of each kind of value.

    For a choice, `options` are the values of its options. `is_text`: they are any texts that people write.
    """

    words: str
    samples: tuple[Sample, ...]
    options: frozenset[int] = frozenset()
    is_text: bool = False

    @classmethod
    def of(cls, words: str, attribute: Attribute, metadata: Metadata) -> PossibleValues:
        """Return the values that `attribute` holds.

        A lookup has a sample for each entity that it may point at.
        """
        if attribute.type.is_reference:
            targets: Iterable[str] = attribute.targets or ("",)
            return cls(words, tuple(Reference(target, "1") for target in targets))
        return cls(
            words,
            (sample_of_attribute(attribute),),
            _option_values(attribute, metadata),
            is_text=FAMILY[attribute.type] is Family.TEXT,
        )

    def suits(self, attribute: Attribute, metadata: Metadata) -> bool:
        """Whether `attribute` may take any of the values."""
        if self.options and (accepted := _option_values(attribute, metadata)) and not self.options & accepted:
            return False
        return any(sample is UNKNOWN or may_hold(attribute, sample) for sample in self.samples)

    def least_length(self, attribute: Attribute) -> int:
        """Return how many characters each of the values has at least, in the text that `attribute` holds."""
        lengths = (0 if sample is UNKNOWN else least_length(attribute, sample) for sample in self.samples)
        return min(lengths, default=0)


@blocking("binding-value-types")
def values_fit(subject: EndpointSubject) -> Found:
    """Find bindings whose source gives no value of the type that the attribute holds."""
    for binding, attribute, samples in _bindings_to_check(subject):
        possible = _possible_values_of(subject, binding, samples)
        if possible is not None and not possible.suits(attribute, subject.metadata):
            yield (
                _(
                    "“%(attribute)s” takes %(wanted)s, which %(given)s does not give. Choose another value.",
                    attribute=binding.attribute,
                    wanted=_expected_type(attribute),
                    given=possible.words,
                ),
                f"bindings.{binding.attribute}.value",
            )


@warning("binding-value-text")
def texts_may_not_fit(subject: EndpointSubject) -> Found:
    """Find bindings of an attribute that takes only some texts, such as numbers, to a source of any text."""
    for binding, attribute, samples in _bindings_to_check(subject):
        possible = _possible_values_of(subject, binding, samples)
        if (
            possible is not None
            and possible.is_text
            and FAMILY[attribute.type] is not Family.TEXT
            and possible.suits(attribute, subject.metadata)
        ):
            yield (
                _(
                    "“%(attribute)s” takes %(wanted)s, and %(given)s gives a text. Calls are refused (422) "
                    "whenever the text is not such a value. Choose a value of the right type.",
                    attribute=binding.attribute,
                    wanted=_expected_type(attribute),
                    given=possible.words,
                ),
                f"bindings.{binding.attribute}.value",
            )


@blocking("binding-value-length")
def texts_have_room(subject: EndpointSubject) -> Found:
    """Find bindings whose source gives ids, days or instants that are longer than the attribute's texts."""
    for binding, attribute, samples in _bindings_to_check(subject):
        possible = _possible_values_of(subject, binding, samples)
        if possible is None or not attribute.max_length or not possible.suits(attribute, subject.metadata):
            continue
        if (needed := possible.least_length(attribute)) > attribute.max_length:
            yield (
                _(
                    "“%(attribute)s” holds at most %(most)s characters, and %(given)s gives %(needed)s. "
                    "Choose another value.",
                    attribute=binding.attribute,
                    most=attribute.max_length,
                    given=possible.words,
                    needed=needed,
                ),
                f"bindings.{binding.attribute}.value",
            )


@blocking("binding-expression-value")
def expressions_have_a_value(subject: EndpointSubject) -> Found:
    """Find expressions with a constant result that fails, or that the attribute cannot hold."""
    for binding, attribute, samples in _bindings_to_check(subject):
        if binding.source == "expression" and (
            reason := _why_result_is_unfit(subject, binding, attribute, samples)
        ):
            yield (
                _(
                    "%(what)s: %(fault)s",
                    what=_("The expression for “%(attribute)s”", attribute=binding.attribute),
                    fault=reason,
                ),
                f"bindings.{binding.attribute}.value",
            )


@blocking("binding-empty")
def required_attributes_are_not_emptied(subject: EndpointSubject) -> Found:
    """Find bindings that always empty an attribute that the platform requires."""
    creates = subject.endpoint.kind.binds_all_required
    for binding, attribute, samples in _bindings_to_check(subject):
        if attribute.required is not RequiredLevel.SYSTEM and not (creates and attribute.is_required):
            continue
        value = (
            binding.value if binding.source == "constant" else _constant_result_of_binding(binding, samples)
        )
        # A value that does not fit has a finding of its own.
        if value in _EMPTY and not _why_unfit(subject, attribute, value):
            yield (
                _(
                    "The platform requires “%(attribute)s”, but its binding always gives an empty value. "
                    "Enter a value.",
                    attribute=binding.attribute,
                ),
                f"bindings.{binding.attribute}.value",
            )


@blocking("input-reference-entity")
def references_point_somewhere(subject: EndpointSubject) -> Found:
    """Find inputs for a record of an unknown entity, because they are bound to no lookup."""
    # In a query string an id says which record is meant, whatever entity it is of.
    if Section.BINDINGS not in subject.endpoint.kind.sections or not subject.attributes:
        return
    for input_definition in subject.inputs:
        input_type = TYPES.get(input_definition.type)
        bound = subject.attribute_limiting(input_definition.name)
        if input_type is not None and input_type.needs_targets and (bound is None or not bound.targets):
            yield (
                _(
                    "It is not known which entity “%(name)s” refers to. "
                    "Bind it to a lookup, or make it %(guid)s.",
                    name=input_definition.name,
                    guid="Guid",
                ),
                f"inputs.{input_definition.name}.type",
            )


def _bindings_to_check(
    subject: EndpointSubject,
) -> Iterator[tuple[BindingDefinition, Attribute, Mapping[str, Sample]]]:
    """Yield the bindings whose attribute exists and can be bound.

    Each comes with its attribute and with samples of the values that its expression may read, by name.
    """
    samples: Mapping[str, Sample] = {}
    if any(binding.source == "expression" for binding in subject.bindings):
        on_record = subject.endpoint.kind.is_on_record
        record = subject.metadata.attributes(subject.entity) if on_record else None
        samples = samples_for_endpoint(subject, subject.inputs, record)
    for binding in subject.bindings:
        attribute = subject.attributes.get(binding.attribute)
        if attribute is not None and natural_type(attribute) is not None:
            yield binding, attribute, samples


def _possible_values_of(
    subject: EndpointSubject, binding: BindingDefinition, samples: Mapping[str, Sample]
) -> PossibleValues | None:
    """Return what the binding gives; None when another rule checks it."""
    if binding.source == "user":
        return given_by_user(subject, str(binding.value))
    if binding.source == "fetch":
        return given_by_fetcher(subject, str(binding.value or ""))
    if binding.source != "expression":
        return None
    return _possible_values_of_expression(subject, str(binding.value or ""), samples)


def _possible_values_of_expression(
    subject: EndpointSubject, text: str, samples: Mapping[str, Sample]
) -> PossibleValues | None:
    """Return what an expression may give; None for a constant result, which another rule checks."""
    words = _("the expression")
    match path_of(text, samples):
        # An expression that is only a path gives the value as it is: a lookup keeps its entity.
        case ("user", name) if name in subject.user_properties:
            return given_by_user(subject, name)
        case ("fetch", name, column):
            return given_by_fetcher(subject, f"{name}.{column}")
        case ("record", name) if name in (attributes := subject.metadata.attributes(subject.entity)):
            return PossibleValues.of(words, attributes[name], subject.metadata)
    try:
        if constant_result(text, samples) is not UNKNOWN:
            return None
    except ExpressionError:
        return None
    result = result_for_samples(text, samples)
    # An expression gives a record as an object.
    is_record = isinstance(result, Mapping) and {"type", "id"} <= result.keys()
    return PossibleValues(words, (Reference("", "1") if is_record else result,))


def _why_result_is_unfit(
    subject: EndpointSubject, binding: BindingDefinition, attribute: Attribute, samples: Mapping[str, Sample]
) -> str:
    """Return why an expression with a constant result can never be written; empty when it can."""
    try:
        value = constant_result(str(binding.value or ""), samples)
    except ExpressionError as error:
        return str(error)
    return "" if value is UNKNOWN else _why_unfit(subject, attribute, value)


def _constant_result_of_binding(binding: BindingDefinition, samples: Mapping[str, Sample]) -> Sample:
    """Return the constant result of a binding's expression; UNKNOWN without one."""
    try:
        return (
            constant_result(str(binding.value or ""), samples) if binding.source == "expression" else UNKNOWN
        )
    except ExpressionError:
        return UNKNOWN


def _why_unfit(subject: EndpointSubject, attribute: Attribute, value: Any) -> str:
    """Return why `attribute` does not accept the value; empty when it does."""
    input_type = natural_type(attribute)
    if value is None or input_type is None:
        return ""
    limits = Limits.of(InputDefinition(name="constant"), attribute, subject.options(attribute))
    try:
        input_type.compile(limits)(as_sent(value, attribute))
    except InvalidInput as error:
        return error.message
    return ""


def given_by_user(subject: EndpointSubject, name: str) -> PossibleValues | None:
    """Return what a user property gives; None when that is not known."""
    user_property = subject.user_properties.get(name)
    words = f"@user.{name}"
    if user_property is None and name == OWN_RECORD:
        admitted = (subject.surroundings.entity_of(type) for type in subject.definition.access.caller_types)
        records = tuple(Reference(entity, "1") for entity in admitted if entity)
        # That nobody has a record is another rule's finding.
        return PossibleValues(words, records) if records else None
    if user_property is None:
        return None
    if user_property.kind == "related":
        # Related data is no single value: without a sample, it suits no attribute.
        return PossibleValues(words, ())
    if user_property.kind == "custom":
        properties = subject.surroundings.properties_by_type[user_property.caller_type]
        samples = {"user": sample_of_user(subject.surroundings, properties, custom=False)}
        return PossibleValues(words, (result_for_samples(user_property.expression, samples),))
    attribute = subject.surroundings.attribute_of(user_property)
    if attribute is None:
        return None
    if attribute.is_primary_id:
        # The id of the caller's own record fits lookups, too: it is given as a reference.
        return PossibleValues(
            words, (Reference(subject.surroundings.entity_of(user_property.caller_type), "1"),)
        )
    return PossibleValues.of(words, attribute, subject.metadata)


def given_by_fetcher(subject: EndpointSubject, value: str) -> PossibleValues | None:
    """Return what a data fetcher's column (`fetcher.column`) gives; None when that is not known."""
    name, _dot, key = value.partition(".")
    for fetcher in subject.definition.fetchers:
        if fetcher.name == name and fetcher.query is not None:
            columns: Mapping[str, Attribute] = answered_attributes(fetcher.query, subject.metadata.attributes)
            if key in columns:
                return PossibleValues.of(f"@fetch.{value}", columns[key], subject.metadata)
    return None


def _option_values(attribute: Attribute, metadata: Metadata) -> frozenset[int]:
    """Return the values of a choice's options; empty when they are not known."""
    if attribute.option_set is None:
        return frozenset()
    option_set = attribute.options or metadata.option_set(attribute.option_set)
    return frozenset(option.value for option in option_set.options) if option_set else frozenset()


def _expected_type(attribute: Attribute) -> str:
    """Return the type that an attribute takes, in words."""
    input_type = natural_type(attribute)
    name = input_type.name if input_type else attribute.type.value
    return f"{name} ({', '.join(attribute.targets)})" if attribute.targets else name
