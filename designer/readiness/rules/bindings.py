"""Entity properties: what is written, and where it comes from."""

from __future__ import annotations

from collections.abc import Iterator

from crmclient.metadata import Attribute
from designer.definitions import BindingDefinition, InputDefinition
from designer.expressions import Expression, ExpressionError
from designer.readiness.registry import Found, blocking, warning
from designer.readiness.subjects import EndpointSubject
from designer.types import TYPES, InvalidInput, Limits, natural_type

EXPRESSION_NAMES = ("input", "user", "now")


@blocking("attribute-unknown")
def attributes_exist(subject: EndpointSubject) -> Found:
    if subject.vocabulary is None:
        return
    for binding in subject.bindings:
        if binding.attribute not in subject.attributes:
            yield (
                f"{subject.vocabulary.owner} has no “{binding.attribute}” to set.",
                _at(binding, "attribute"),
            )


@blocking("attribute-read-only")
def attributes_can_be_written(subject: EndpointSubject) -> Found:
    creates = subject.endpoint.kind.binds_all_required
    for binding, attribute in _known(subject):
        if natural_type(attribute) is None:
            yield f"“{binding.attribute}” holds a file, which no binding gives.", _at(binding, "attribute")
        elif not (attribute.creatable if creates else attribute.updatable):
            yield f"“{binding.attribute}” is set by the platform alone.", _at(binding, "attribute")


@blocking("required-attribute-unbound")
def required_attributes_are_bound(subject: EndpointSubject) -> Found:
    if not subject.endpoint.kind.binds_all_required:
        return
    bound = {binding.attribute for binding in subject.bindings}
    for attribute in subject.attributes.values():
        if attribute.is_required and attribute.logical_name not in bound:
            yield (
                f"The platform requires {attribute.label.text() or attribute.logical_name} "
                f"({attribute.logical_name}), and nothing sets it: bind it to an input or a constant.",
                "bindings",
            )


@warning("required-attribute-optional")
def required_attributes_are_sent(subject: EndpointSubject) -> Found:
    if not subject.endpoint.kind.binds_all_required:
        return
    for binding, attribute in _known(subject):
        known = _input(subject, binding)
        if attribute.is_required and known and not known.required and known.default is None:
            yield (
                f"The platform requires “{binding.attribute}”, but callers may leave out “{known.name}”: "
                "make the input required, or give it a default.",
                f"inputs.{known.name}.required",
            )


@blocking("binding-input")
def inputs_are_defined(subject: EndpointSubject) -> Found:
    for binding in subject.bindings:
        if binding.source == "input" and binding.value not in subject.input_names:
            wanted = f"@{binding.value}" if binding.value else "no input"
            yield f"“{binding.attribute}” takes {wanted}, which is not defined.", _at(binding, "value")


@blocking("binding-types")
def types_fit(subject: EndpointSubject) -> Found:
    for binding, attribute in _known(subject):
        known = _input(subject, binding)
        if known is None or known.type not in TYPES or natural_type(attribute) is None:
            continue
        if attribute.type not in TYPES[known.type].attribute_types:
            natural = natural_type(attribute)
            yield (
                f"“{binding.attribute}” holds {attribute.type.value}, and input “{known.name}” is "
                f"{known.type}: make it {natural.name if natural else 'another type'}.",
                f"inputs.{known.name}.type",
            )


@warning("binding-length")
def lengths_fit(subject: EndpointSubject) -> Found:
    for binding, attribute in _known(subject):
        known = _input(subject, binding)
        if known and known.max_length and attribute.max_length and known.max_length > attribute.max_length:
            yield (
                f"“{binding.attribute}” holds {attribute.max_length} characters; input “{known.name}” allows "
                f"{known.max_length}. The shorter limit counts.",
                f"inputs.{known.name}.max_length",
            )


@blocking("binding-constant")
def constants_fit(subject: EndpointSubject) -> Found:
    for binding, attribute in _known(subject):
        kind = natural_type(attribute)
        if binding.source != "constant" or binding.value is None or kind is None:
            continue
        limits = Limits.of(InputDefinition(name="constant"), attribute, subject.options(attribute))
        try:
            kind.compile(limits)(binding.value)
        except InvalidInput as error:
            yield f"The constant for “{binding.attribute}”: {error.message}", _at(binding, "value")


@blocking("binding-user-property")
def user_properties_exist(subject: EndpointSubject) -> Found:
    for binding in subject.bindings:
        if binding.source == "user" and binding.value not in subject.surroundings.user_properties:
            yield f"There is no user property “{binding.value}”.", _at(binding, "value")


@warning("binding-user-anonymous")
def users_are_known(subject: EndpointSubject) -> Found:
    if subject.definition.access.authentication_required:
        return
    for binding in subject.bindings:
        if binding.source == "user":
            yield (
                f"“{binding.attribute}” takes @user.{binding.value}, but anyone may call: "
                "a caller without a token is refused.",
                _at(binding, "source"),
            )


@blocking("binding-expression")
def expressions_compile(subject: EndpointSubject) -> Found:
    for binding in subject.bindings:
        if binding.source == "expression":
            try:
                Expression(str(binding.value or ""), EXPRESSION_NAMES)
            except ExpressionError as error:
                yield f"The expression for “{binding.attribute}”: {error}", _at(binding, "value")


def _known(subject: EndpointSubject) -> Iterator[tuple[BindingDefinition, Attribute]]:
    for binding in subject.bindings:
        if binding.attribute in subject.attributes:
            yield binding, subject.attributes[binding.attribute]


def _input(subject: EndpointSubject, binding: BindingDefinition) -> InputDefinition | None:
    if binding.source != "input":
        return None
    return next((known for known in subject.inputs if known.name == binding.value), None)


def _at(binding: BindingDefinition, field: str) -> str:
    return f"bindings.{binding.attribute}.{field}"
