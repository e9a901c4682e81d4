"""What stands against making the changes of a plan, found without writing anything."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

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
from designer.sentences import Sentence, listed
from designer.token_issuers.issuer_rows import rule_values


def problems_of(plan: Plan, after: ConfigurationDocument) -> Iterator[tuple[Change, str]]:
    """Yield each change that cannot be made, with a sentence for every reason. `after` is what the plan leads
    to.
    """
    for change in plan.changes:
        what = change.collection.named(change.key)
        if not change.confirmed:
            continue
        if change.after is not None:
            yield from (
                (change, listed((what, reason), ": ")) for reason in _problems_of_item(change.after, after)
            )
        elif users := sorted(_users(change.before, after)):
            yield change, in_use(what, users)


def check_row(row: models.Model) -> None:
    """Check the row's own fields, without relations and uniqueness. Raises ValidationError."""
    # Uniqueness is the natural key's, which the plan knows already; related rows are looked for by name.
    related = {field.name for field in row._meta.fields if field.is_relation}
    row.full_clean(exclude=related, validate_unique=False, validate_constraints=False)


def sentences_of(error: ValidationError) -> Iterator[str]:
    """Yield a sentence for each field of a row that is wrong."""
    for field, messages in error.message_dict.items():
        places = () if field == NON_FIELD_ERRORS else (field,)
        yield listed((*places, listed(messages, " ")), ": ")


def in_use(what: str, users: Iterable[str]) -> Sentence:
    return Sentence("%(item)s is in use and cannot be removed: %(users)s", item=what, users=", ".join(users))


def no_module(segment: str) -> Sentence:
    return Sentence("There is no module “%(name)s”, here or in the document.", name=segment)


def no_exposure(endpoint: EndpointDefinition) -> Sentence:
    return Sentence(
        "Module “%(module)s” exposes no entity as “%(name)s”.",
        module=endpoint.module,
        name=endpoint.exposure,
    )


def no_role(name: str) -> Sentence:
    return Sentence("There is no role “%(name)s”, here or in the document.", name=name)


def no_caller_type(name: str) -> Sentence:
    return Sentence("There is no caller type “%(name)s”, here or in the document.", name=name)


def _users(item: Definition | None, after: ConfigurationDocument) -> Iterator[str]:
    """Yield the keys of the items that need `item`."""
    for endpoint in after.endpoints:
        match item:
            case RoleDefinition() if item.name in endpoint.access.roles:
                yield endpoint.key
            case CallerTypeDefinition() if item.name in endpoint.access.caller_types:
                yield endpoint.key
            case ModuleDefinition() if item.segment == endpoint.module:
                yield endpoint.key
            case ExposedEntityDefinition() if (item.module, item.segment) == _place(endpoint):
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


def _place(endpoint: EndpointDefinition) -> tuple[str, str]:
    return endpoint.module, endpoint.exposure


def _problems_of_item(item: Definition, after: ConfigurationDocument) -> Iterator[str]:
    """Yield a sentence for each reason why the item cannot be stored."""
    yield from _missing_items(item, after)
    for row in _rows(item):
        try:
            check_row(row)
        except ValidationError as error:
            yield from sentences_of(error)
        except ValueError as error:
            yield str(error)


def _missing_items(item: Definition, after: ConfigurationDocument) -> Iterator[str]:
    """Yield a sentence for each name that `item` refers to and that does not exist."""
    modules = {module.segment for module in after.modules}
    if isinstance(item, (ExposedEntityDefinition, EndpointDefinition)) and item.module not in {*modules, ""}:
        yield listed(("module", no_module(item.module)), ": ")
    types = {definition.name for definition in after.caller_types}
    if isinstance(item, UserPropertyDefinition) and item.caller_type not in types:
        yield listed(("caller_type", no_caller_type(item.caller_type)), ": ")
    roles = {role.name for role in after.roles}
    if isinstance(item, ExposedEntityDefinition):
        for name in sorted(roles_of(item.row_rule) - roles):
            yield listed(("row_rule", no_role(name)), ": ")
    if isinstance(item, EndpointDefinition):
        for name in item.access.caller_types:
            if name not in types:
                yield listed(("access.caller_types", no_caller_type(name)), ": ")
        if item.exposure and _place(item) not in {
            (definition.module, definition.segment) for definition in after.entities
        }:
            yield listed(("exposure", no_exposure(item)), ": ")
        for name in item.access.roles:
            if name not in roles:
                yield listed(("access.roles", no_role(name)), ": ")


def _rows(item: Definition) -> Iterator[models.Model]:
    """Yield the rows that `item` would become. None of them is stored."""
    values = values_of(item)
    match item:
        case RoleDefinition():
            yield Role(**values)
        case CallerTypeDefinition():
            yield CallerType(**values)
        case UserPropertyDefinition():
            yield UserProperty(**values)
            yield from (RelatedColumn(position=0, **column_values(column)) for column in item.columns)
        case IssuerDefinition():
            yield Issuer(**values)
            yield from (RoleRule(position=0, **rule) for rule in rule_values(item))
        case ModuleDefinition():
            yield Module(**values)
        case ExposedEntityDefinition():
            exposed = ExposedEntity(**values)
            yield exposed
            yield from (RowRuleEntry(exposed=exposed, **entry_values(entry)) for entry in item.row_rule)
        case EndpointDefinition():
            module = Module(segment=item.module) if item.module else None
            entity = ExposedEntity(module=module, segment=item.exposure) if item.exposure else None
            row = Endpoint(module=module, entity=entity, **values)
            yield row
            yield from _input_rows(row, item.inputs, item.bindings)
            for model, parts in ((Column, item.columns), (Fetcher, item.fetchers)):
                yield from (model(endpoint=row, position=0, **part_values(part)) for part in parts)
            yield from (
                Precondition(endpoint=row, position=0, **part_values(part)) for part in item.preconditions
            )


def _input_rows(
    row: Endpoint, inputs: Sequence[InputDefinition], bindings: Sequence[BindingDefinition]
) -> Iterator[models.Model]:
    for input_definition in inputs:
        yield Input(endpoint=row, position=0, **part_values(input_definition))
        yield from _input_rows(row, input_definition.inputs, input_definition.bindings)
    yield from (Binding(endpoint=row, position=0, **part_values(binding)) for binding in bindings)
