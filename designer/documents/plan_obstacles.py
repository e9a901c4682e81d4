"""What stands against making the changes of a plan, found without writing anything."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.db import models

from designer.definitions import (
    BindingDefinition,
    CallerTypeDefinition,
    ConfigurationDocument,
    Definition,
    EndpointDefinition,
    ExposedEntityDefinition,
    InputDefinition,
    IssuerDefinition,
    ModuleDefinition,
    RoleDefinition,
    UserPropertyDefinition,
)
from designer.definitions.row_rules import roles_of
from designer.documents.plan import Change, Plan
from designer.documents.row_values import column_values, entry_values, part_values, values_of
from designer.models import (
    Binding,
    CallerType,
    Column,
    Endpoint,
    ExposedEntity,
    Fetcher,
    Input,
    Issuer,
    Module,
    Precondition,
    RelatedColumn,
    Role,
    RoleRule,
    RowRuleEntry,
    UserProperty,
)
from designer.readiness import Finding
from designer.readiness.checker import UNJUDGED
from designer.sentences import Sentence, listed
from designer.token_issuers.issuer_rows import rule_values

# Members that say what an item is in.
_HOMES = frozenset({"module", "exposure"})


class Obstacle(NamedTuple):
    """A reason why a change cannot be made, in a sentence.

    `place` is where in the item, as in findings, such as `inputs.phone.name`; empty for the whole item.
    """

    change: Change
    place: str
    sentence: Sentence

    def explains(self, finding: Finding) -> bool:
        """Whether the finding may only follow from this obstacle, and is no mistake by itself."""
        if finding.subject != self.change.collection.subject(self.change.key):
            return False
        # An item whose module or entity does not exist has no attributes: rules find them all missing.
        if not self.place or self.place in _HOMES or finding.rule == UNJUDGED:
            return True
        return finding.is_about(self.place)


def obstacles_of(plan: Plan, after: ConfigurationDocument) -> Iterator[Obstacle]:
    """Yield every reason why a change cannot be made. `after` is what the plan leads to."""
    for change in plan.changes:
        what = change.collection.in_words(change.key)
        if not change.confirmed:
            continue
        if change.after is not None:
            for place, reason in _problems_of_item(change.after, after):
                yield Obstacle(change, place, listed((what, *filter(None, (place,)), reason), ": "))
        elif users := sorted(_items_that_need(change.before, after)):
            yield Obstacle(change, "", in_use(what, users))


def check_row(row: models.Model) -> None:
    """Check the row's own fields, without relations and uniqueness. Raises ValidationError."""
    # The plan finds items by their key, so no key comes twice. Related rows are looked for by name.
    related = {field.name for field in row._meta.fields if field.is_relation}
    row.full_clean(exclude=related, validate_unique=False, validate_constraints=False)


def sentences_of(error: ValidationError) -> Iterator[str]:
    """Yield a sentence for each field of a row that is wrong."""
    for field, messages in _messages_by_field(error):
        yield listed((*filter(None, (field,)), messages), ": ")


def _messages_by_field(error: ValidationError) -> Iterator[tuple[str, str]]:
    """Yield each field of a row that is wrong, empty for the whole row, and what is wrong with it."""
    for field, messages in error.message_dict.items():
        yield "" if field == NON_FIELD_ERRORS else field, listed(messages, " ")


def in_use(what: str, users: Iterable[str]) -> Sentence:
    """Return the sentence about an item that others (`users`) need, so that it cannot be removed."""
    return Sentence("%(item)s is in use and cannot be removed: %(users)s", item=what, users=", ".join(users))


def no_module(segment: str) -> Sentence:
    """Return the sentence about a module that does not exist."""
    return Sentence("There is no module “%(name)s”, here or in the document.", name=segment)


def no_exposure(endpoint: EndpointDefinition) -> Sentence:
    """Return the sentence about an endpoint whose exposed entity does not exist."""
    return Sentence(
        "Module “%(module)s” exposes no entity as “%(name)s”.",
        module=endpoint.module,
        name=endpoint.exposure,
    )


def no_role(name: str) -> Sentence:
    """Return the sentence about a role that does not exist."""
    return Sentence("There is no role “%(name)s”, here or in the document.", name=name)


def no_caller_type(name: str) -> Sentence:
    """Return the sentence about a caller type that does not exist."""
    return Sentence("There is no caller type “%(name)s”, here or in the document.", name=name)


def _items_that_need(item: Definition | None, after: ConfigurationDocument) -> Iterator[str]:
    """Yield the keys of the items that need `item`."""
    for endpoint in after.endpoints:
        match item:
            case RoleDefinition() if item.name in endpoint.access.roles:
                yield endpoint.key
            case CallerTypeDefinition() if item.name in endpoint.access.caller_types:
                yield endpoint.key
            case ModuleDefinition() if item.segment == endpoint.module:
                yield endpoint.key
            case ExposedEntityDefinition() if (item.module, item.segment) == _place_of_endpoint(endpoint):
                yield endpoint.key
    if isinstance(item, ModuleDefinition):
        yield from (entity.key for entity in after.entities if entity.module == item.segment)
    if isinstance(item, CallerTypeDefinition):
        yield from (
            user_property.key
            for user_property in after.user_properties
            if user_property.caller_type == item.name
        )
    if isinstance(item, RoleDefinition):
        yield from (entity.key for entity in after.entities if item.name in roles_of(entity.row_rule))


def _place_of_endpoint(endpoint: EndpointDefinition) -> tuple[str, str]:
    """Return the module and the segment of the entity that the endpoint works on."""
    return endpoint.module, endpoint.exposure


def _problems_of_item(item: Definition, after: ConfigurationDocument) -> Iterator[tuple[str, str]]:
    """Yield each reason why the item cannot be stored, after its place in the item."""
    yield from _missing_items(item, after)
    for place, row in _rows_of_item(item):
        try:
            check_row(row)
        except ValidationError as error:
            for field, messages in _messages_by_field(error):
                yield ".".join(filter(None, (place, field))), messages
        except ValueError as error:
            yield place, str(error)


def _missing_items(item: Definition, after: ConfigurationDocument) -> Iterator[tuple[str, str]]:
    """Yield the place of each name that `item` refers to and that does not exist, and a sentence about it."""
    match item:
        case UserPropertyDefinition():
            if item.caller_type not in {definition.name for definition in after.caller_types}:
                yield "caller_type", no_caller_type(item.caller_type)
        case ExposedEntityDefinition():
            if item.module and item.module not in {module.segment for module in after.modules}:
                yield "module", no_module(item.module)
            for name in sorted(roles_of(item.row_rule) - {role.name for role in after.roles}):
                yield "row_rule", no_role(name)
        case EndpointDefinition():
            yield from _missing_items_of_endpoint(item, after)


def _missing_items_of_endpoint(
    endpoint: EndpointDefinition, after: ConfigurationDocument
) -> Iterator[tuple[str, str]]:
    """Yield what `_missing_items` does, for an endpoint."""
    modules = {module.segment for module in after.modules}
    if endpoint.module and endpoint.module not in modules:
        yield "module", no_module(endpoint.module)
    types = {definition.name for definition in after.caller_types}
    for name in endpoint.access.caller_types:
        if name not in types:
            yield "access.caller_types", no_caller_type(name)
    places = {(definition.module, definition.segment) for definition in after.entities}
    # Where the module does not exist, its exposed entity cannot either: one problem is enough.
    if endpoint.exposure and endpoint.module in modules and _place_of_endpoint(endpoint) not in places:
        yield "exposure", no_exposure(endpoint)
    roles = {role.name for role in after.roles}
    for name in endpoint.access.roles:
        if name not in roles:
            yield "access.roles", no_role(name)


def _rows_of_item(item: Definition) -> Iterator[tuple[str, models.Model]]:
    """Yield the rows that `item` would become, none of them stored, as pairs: the place in the item, such as
    `columns.phone` (empty for the item's own row), and the row.
    """
    values = values_of(item)
    match item:
        case RoleDefinition():
            yield "", Role(**values)
        case CallerTypeDefinition():
            yield "", CallerType(**values)
        case UserPropertyDefinition():
            yield "", UserProperty(**values)
            for column in item.columns:
                yield f"columns.{column.shown_as}", RelatedColumn(**column_values(column))
        case IssuerDefinition():
            yield "", Issuer(**values)
            for rule in rule_values(item):
                yield "role_rules", RoleRule(**rule)
        case ModuleDefinition():
            yield "", Module(**values)
        case ExposedEntityDefinition():
            exposed = ExposedEntity(**values)
            yield "", exposed
            for entry in item.row_rule:
                yield "row_rule", RowRuleEntry(exposed=exposed, **entry_values(entry))
        case EndpointDefinition():
            yield from _endpoint_rows(item)


def _endpoint_rows(endpoint: EndpointDefinition) -> Iterator[tuple[str, models.Model]]:
    """Yield the row of an endpoint and those of its parts, as `_rows_of_item` does."""
    module = Module(segment=endpoint.module) if endpoint.module else None
    entity = ExposedEntity(module=module, segment=endpoint.exposure) if endpoint.exposure else None
    row = Endpoint(module=module, entity=entity, **values_of(endpoint))
    yield "", row
    yield from _input_rows(row, "", endpoint.inputs, endpoint.bindings)
    for column in endpoint.columns:
        yield f"columns.{column.shown_as}", Column(endpoint=row, **part_values(column))
    for fetcher in endpoint.fetchers:
        yield f"fetchers.{fetcher.name}", Fetcher(endpoint=row, **part_values(fetcher))
    for precondition in endpoint.preconditions:
        yield "preconditions", Precondition(endpoint=row, **part_values(precondition))


def _input_rows(
    row: Endpoint, place: str, inputs: Sequence[InputDefinition], bindings: Sequence[BindingDefinition]
) -> Iterator[tuple[str, models.Model]]:
    """Yield the rows of inputs and bindings, as `_rows_of_item` does. `place` is that of the list whose items
    they describe, with a dot behind it; empty for the endpoint's own.
    """
    for definition in inputs:
        own_place = f"{place}inputs.{definition.name}"
        yield own_place, Input(endpoint=row, **part_values(definition))
        yield from _input_rows(row, f"{own_place}.", definition.inputs, definition.bindings)
    for binding in bindings:
        own_place = f"{place}bindings.{binding.attribute}"
        yield own_place, Binding(endpoint=row, **part_values(binding))
