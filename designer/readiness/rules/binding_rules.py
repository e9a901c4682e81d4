"""Entity properties: what is written, and where it comes from."""

from __future__ import annotations

from collections.abc import Iterator

from crmclient.metadata import Attribute
from designer.definitions import BindingDefinition, InputDefinition
from designer.expressions.nearest import did_you_mean
from designer.names import OWN_RECORD
from designer.queries.answered_columns import answered_attributes, unknown_keys
from designer.readiness.registry import Found, blocking, warning
from designer.readiness.subjects import EndpointSubject
from designer.sentences import Sentence as _
from designer.types import TYPES, InvalidInput, Limits, natural_type


@blocking("attribute-unknown")
def attributes_exist(subject: EndpointSubject) -> Found:
    """Find bindings to attributes that do not exist."""
    if subject.vocabulary is None:
        return
    for binding in subject.bindings:
        if not binding.attribute:
            yield _("Choose the attribute that the entity property sets."), "bindings"
        elif binding.attribute not in subject.attributes:
            yield (
                _(
                    "%(owner)s has no “%(attribute)s” to set.",
                    owner=subject.vocabulary.owner,
                    attribute=binding.attribute,
                ),
                _place_in_binding(binding, "attribute"),
            )


@blocking("attribute-read-only")
def attributes_can_be_written(subject: EndpointSubject) -> Found:
    """Find bindings to files, and to attributes that a call of this kind cannot set."""
    kind = subject.endpoint.kind
    # Of a kind that makes a record, bindings may also set what no update can change afterwards.
    creates = kind.binds_all_required or kind.settings.creates_records
    for binding, attribute in _bindings_with_attributes(subject):
        if natural_type(attribute) is None:
            yield (
                _(
                    "“%(attribute)s” holds a file, which a binding cannot set. Remove the binding.",
                    attribute=binding.attribute,
                ),
                _place_in_binding(binding, "attribute"),
            )
        elif not (attribute.creatable if creates else attribute.updatable):
            yield (
                _("“%(attribute)s” is set by the platform alone.", attribute=binding.attribute),
                _place_in_binding(binding, "attribute"),
            )


@blocking("required-attribute-unbound")
def required_attributes_are_bound(subject: EndpointSubject) -> Found:
    """Find required attributes that nothing sets, where the kind must set all of them."""
    if not subject.endpoint.kind.binds_all_required:
        return
    bound = {binding.attribute for binding in subject.bindings} | subject.set_without_binding
    for attribute in subject.attributes.values():
        if attribute.is_required and attribute.logical_name not in bound:
            yield (
                _(
                    "The platform requires %(label)s (%(logical_name)s), and nothing sets it: "
                    "bind it to an input or a constant.",
                    label=attribute.label.text() or attribute.logical_name,
                    logical_name=attribute.logical_name,
                ),
                f"bindings.{attribute.logical_name}",
            )


@warning("required-attribute-optional")
def required_attributes_are_sent(subject: EndpointSubject) -> Found:
    """Find required attributes whose input callers may leave out, with no default to take its place."""
    if not subject.endpoint.kind.binds_all_required:
        return
    for binding, attribute in _bindings_with_attributes(subject):
        input_definition = _input_of_binding(subject, binding)
        # An empty default leaves the attribute empty. An upsert, which is `partial`, uses no defaults.
        has_default = (
            input_definition is not None
            and input_definition.default not in (None, "", [])
            and not subject.endpoint.kind.partial
        )
        if attribute.is_required and input_definition and not input_definition.required and not has_default:
            yield (
                _(
                    "The platform requires “%(attribute)s”, but callers may leave out "
                    "“%(name)s”: make the input required, or give it a default.",
                    attribute=binding.attribute,
                    name=input_definition.name,
                ),
                f"inputs.{input_definition.name}.required",
            )


@blocking("binding-input")
def inputs_are_defined(subject: EndpointSubject) -> Found:
    """Find bindings to inputs that do not exist, of attributes that an input can fill."""
    for binding in subject.bindings:
        attribute = subject.attributes.get(binding.attribute)
        if attribute is not None and natural_type(attribute) is None:
            # `attribute-read-only` says so once.
            continue
        if binding.source == "input" and binding.value not in subject.input_names:
            missing_input = f"@{binding.value}" if binding.value else _("no input")
            yield (
                _(
                    "“%(attribute)s” takes %(wanted)s, which is not defined.%(hint)s",
                    attribute=binding.attribute,
                    wanted=missing_input,
                    hint=did_you_mean(str(binding.value or ""), subject.input_names),
                ),
                _place_in_binding(binding, "value"),
            )


@blocking("binding-types")
def types_fit(subject: EndpointSubject) -> Found:
    """Find inputs whose type gives values that the bound attribute cannot hold. Another rule finds unknown
    types.
    """
    for binding, attribute in _bindings_with_attributes(subject):
        input_definition = _input_of_binding(subject, binding)
        if input_definition is None or input_definition.type not in TYPES or natural_type(attribute) is None:
            continue
        if not TYPES[input_definition.type].fits(attribute):
            natural = natural_type(attribute)
            yield (
                _(
                    "“%(attribute)s” holds %(type)s, and input “%(name)s” is %(input_type)s: "
                    "make it %(natural)s.",
                    attribute=binding.attribute,
                    type=natural.name if natural and attribute.holds_days else attribute.type.value,
                    name=input_definition.name,
                    input_type=input_definition.type,
                    natural=natural.name if natural else _("another type"),
                ),
                f"inputs.{input_definition.name}.type",
            )


@warning("binding-length")
def lengths_fit(subject: EndpointSubject) -> Found:
    """Find inputs that allow longer texts than the bound attribute holds."""
    for binding, attribute in _bindings_with_attributes(subject):
        input_definition = _input_of_binding(subject, binding)
        if (
            input_definition
            and input_definition.max_length
            and attribute.max_length
            and input_definition.max_length > attribute.max_length
        ):
            yield (
                _(
                    "“%(attribute)s” holds %(max_length)s characters; input “%(name)s” allows "
                    "%(allowed)s. The shorter limit counts.",
                    attribute=binding.attribute,
                    max_length=attribute.max_length,
                    name=input_definition.name,
                    allowed=input_definition.max_length,
                ),
                f"inputs.{input_definition.name}.max_length",
            )


@blocking("binding-constant")
def constants_fit(subject: EndpointSubject) -> Found:
    """Find constants that the bound attribute cannot hold. None empties the attribute: `binding-empty` checks
    it.
    """
    for binding, attribute in _bindings_with_attributes(subject):
        input_type = natural_type(attribute)
        if binding.source != "constant" or binding.value is None or input_type is None:
            continue
        limits = Limits.of(InputDefinition(name="constant"), attribute, subject.options(attribute))
        try:
            input_type.compile(limits)(binding.value)
        except InvalidInput as error:
            yield (
                _(
                    "The constant for “%(attribute)s”: %(message)s",
                    attribute=binding.attribute,
                    message=error.message,
                ),
                _place_in_binding(binding, "value"),
            )


@blocking("binding-user-property")
def user_properties_exist(subject: EndpointSubject) -> Found:
    """Find bindings to user properties that no admitted caller has."""
    for binding in subject.bindings:
        if binding.source != "user" or binding.value in subject.admitted_properties:
            continue
        if binding.value == OWN_RECORD or binding.value in subject.surroundings.user_properties:
            yield (
                _(
                    "No caller type that the endpoint admits has the user property “%(value)s”. Add the "
                    "property to one of these types, or choose another.",
                    value=binding.value,
                ),
                _place_in_binding(binding, "value"),
            )
        else:
            yield (
                _("There is no user property “%(name)s”. Add it, or choose another.", name=binding.value),
                _place_in_binding(binding, "value"),
            )


@warning("binding-user-anonymous")
def users_are_known(subject: EndpointSubject) -> Found:
    """Find bindings to user properties where callers need no token."""
    if subject.definition.access.authentication_required:
        return
    for binding in subject.bindings:
        if binding.source == "user":
            yield (
                _(
                    "“%(attribute)s” takes @user.%(value)s, but anyone may call: a caller "
                    "without a token is refused.",
                    attribute=binding.attribute,
                    value=binding.value,
                ),
                _place_in_binding(binding, "source"),
            )


@blocking("binding-fetch")
def fetchers_exist(subject: EndpointSubject) -> Found:
    """Find bindings to data fetchers, or to their columns, that do not exist."""
    for binding in subject.bindings:
        if binding.source == "fetch" and (reason := _why_not_fetched(subject, str(binding.value or ""))):
            yield (
                _(
                    "“%(attribute)s” takes @fetch.%(value)s: %(reason)s",
                    attribute=binding.attribute,
                    value=binding.value,
                    reason=reason,
                ),
                _place_in_binding(binding, "value"),
            )


def _bindings_with_attributes(
    subject: EndpointSubject,
) -> Iterator[tuple[BindingDefinition, Attribute]]:
    """Yield the bindings whose attribute exists, with that attribute."""
    for binding in subject.bindings:
        if binding.attribute in subject.attributes:
            yield binding, subject.attributes[binding.attribute]


def _input_of_binding(subject: EndpointSubject, binding: BindingDefinition) -> InputDefinition | None:
    """Return the input whose value the binding takes; None for a binding of another source, or to an unknown
    input.
    """
    if binding.source != "input":
        return None
    return next(
        (input_definition for input_definition in subject.inputs if input_definition.name == binding.value),
        None,
    )


def _why_not_fetched(subject: EndpointSubject, value: str) -> str:
    """Return why there is no column `value` (`fetcher.column`); empty when there is one, or it is unknown."""
    name, _dot, key = value.partition(".")
    fetchers = {fetcher.name: fetcher for fetcher in subject.definition.fetchers}
    if name not in fetchers:
        return _("there is no data fetcher “%(name)s”.%(hint)s", name=name, hint=did_you_mean(name, fetchers))
    query = fetchers[name].query
    # Which columns a fetcher without a query has is not known: another rule finds the missing query.
    if query is None or key in unknown_keys(query, subject.metadata.attributes):
        return ""
    columns = answered_attributes(query, subject.metadata.attributes)
    if key in columns:
        return ""
    return _(
        "it has no such column; there are: %(columns)s.%(hint)s",
        columns=", ".join(columns) or _("none"),
        hint=did_you_mean(key, columns),
    )


def _place_in_binding(binding: BindingDefinition, field: str) -> str:
    """Return the place of a field of the binding in the definition."""
    return f"bindings.{binding.attribute}.{field}"
