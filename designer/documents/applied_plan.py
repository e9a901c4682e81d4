"""Making the changes of a plan, in the caller's transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import ProtectedError

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
from designer.documents.plan import Change, Plan
from designer.documents.plan_obstacles import (
    check_row,
    in_use,
    no_caller_type,
    no_exposure,
    no_module,
    no_role,
    sentences_of,
)
from designer.documents.problems import DocumentError
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
from designer.sentences import at_place
from designer.token_issuers.issuer_rows import rule_values

P = TypeVar("P", Input, Binding, Column, Fetcher, Precondition)


def apply(plan: Plan, wanted: ConfigurationDocument) -> None:
    """Make the confirmed changes. Raises DocumentError with all that is wrong; then roll back.

    `wanted` is the document that the plan leads to: it gives the order of user properties.
    """
    problems: list[str] = []
    for change in plan.changes:
        if change.confirmed:
            problems += _make_change(change)
    if problems:
        raise DocumentError(problems)
    # New and changed user properties have no position yet.
    if plan.reordered or any(change.collection.field == "user_properties" for change in plan.changes):
        _put_in_order(wanted)


def _make_change(change: Change) -> Iterator[str]:
    """Make one change. Yield a sentence for each reason why it cannot be made."""
    row = _ROWS[change.collection.field]
    what = change.collection.in_words(change.key)
    try:
        if change.after is None:
            row.find(change.before).delete()
        else:
            # The key of an item never changes, so both forms name the same row.
            row.write(row.find(change.before or change.after) or row.model(), change.after)
    except ProtectedError as error:
        yield in_use(what, sorted(str(user) for user in error.protected_objects))
    except ValidationError as error:
        yield from (at_place(what, reason) for reason in sentences_of(error))
    except ValueError as error:
        yield at_place(what, str(error))


def _save(row: models.Model, values: Mapping[str, Any]) -> None:
    """Set the columns of a row and store it. Raises ValidationError for values that its columns refuse."""
    for name, value in values.items():
        setattr(row, name, value)
    check_row(row)
    row.save()


def _find_role(role: RoleDefinition) -> Role | None:
    return Role.objects.filter(name=role.name).first()


def _write_role(row: Role, role: RoleDefinition) -> None:
    _save(row, values_of(role))


def _find_caller_type(caller_type: CallerTypeDefinition) -> CallerType | None:
    return CallerType.objects.filter(name=caller_type.name).first()


def _write_caller_type(row: CallerType, caller_type: CallerTypeDefinition) -> None:
    _save(row, values_of(caller_type))


def _find_user_property(user_property: UserPropertyDefinition) -> UserProperty | None:
    return UserProperty.objects.filter(
        caller_type__name=user_property.caller_type, name=user_property.name
    ).first()


def _write_user_property(row: UserProperty, user_property: UserPropertyDefinition) -> None:
    """Store a user property, and all its columns anew. Raises ValidationError for an unknown caller type."""
    _save(row, {**values_of(user_property), "caller_type": _existing_caller_type(user_property.caller_type)})
    row.columns.all().delete()
    for position, column in enumerate(user_property.columns):
        _save(RelatedColumn(user_property=row, position=position), column_values(column))


def _find_issuer(issuer: IssuerDefinition) -> Issuer | None:
    return Issuer.objects.filter(name=issuer.name).first()


def _write_issuer(row: Issuer, issuer: IssuerDefinition) -> None:
    """Store an issuer, and all its role rules anew."""
    _save(row, values_of(issuer))
    row.role_rules.all().delete()
    for position, values in enumerate(rule_values(issuer)):
        _save(RoleRule(issuer=row, position=position), values)


def _find_module(module: ModuleDefinition) -> Module | None:
    return Module.objects.filter(segment=module.segment).first()


def _write_module(row: Module, module: ModuleDefinition) -> None:
    _save(row, values_of(module))


def _find_entity(entity: ExposedEntityDefinition) -> ExposedEntity | None:
    return ExposedEntity.objects.filter(module__segment=entity.module, segment=entity.segment).first()


def _write_entity(row: ExposedEntity, entity: ExposedEntityDefinition) -> None:
    """Store an exposed entity, and its row rule anew. Raises ValidationError for an
    unknown module or role.
    """
    _save(row, {**values_of(entity), "module": _existing_module(entity.module)})
    row.row_rule.all().delete()
    for definition in entity.row_rule:
        entry = RowRuleEntry(exposed=row)
        _save(entry, entry_values(definition))
        entry.roles.set(_existing_roles(definition.roles, "row_rule"))


def _find_endpoint(endpoint: EndpointDefinition) -> Endpoint | None:
    """Return the row of an endpoint; None when it is new.

    Its place is its exposed entity, else its module; an endpoint with neither is global.
    """
    same = Endpoint.objects.filter(kind=endpoint.kind, segment=endpoint.segment, name=endpoint.name)
    if endpoint.exposure:
        return same.filter(entity__module__segment=endpoint.module, entity__segment=endpoint.exposure).first()
    if endpoint.module:
        return same.filter(entity=None, module__segment=endpoint.module).first()
    return same.filter(entity=None, module=None).first()


def _write_endpoint(row: Endpoint, endpoint: EndpointDefinition) -> None:
    """Write an endpoint with its parts. Parts have no key that would tell which of them changed, so all are
    written anew.
    """
    places = {
        "module": _existing_module(endpoint.module) if endpoint.module else None,
        "entity": _existing_entity(endpoint) if endpoint.exposure else None,
    }
    _save(row, values_of(endpoint) | places | {"acknowledgements": _acknowledgements(row, endpoint)})
    row.roles.set(_existing_roles(endpoint.access.roles, "access.roles"))
    for model in (Binding, Input, Column, Fetcher, Precondition):
        model._default_manager.filter(endpoint=row).delete()
    _write_inputs(row, endpoint.inputs, endpoint.bindings, parent=None)
    _write_parts(row, Column, endpoint.columns)
    _write_parts(row, Fetcher, endpoint.fetchers)
    _write_parts(row, Precondition, endpoint.preconditions)


def _write_inputs(
    row: Endpoint,
    inputs: Sequence[InputDefinition],
    bindings: Sequence[BindingDefinition],
    *,
    parent: Input | None,
) -> None:
    """Write the inputs and bindings of the endpoint or, with `parent`, those of the records that this input
    holds.
    """
    input_rows = _write_parts(row, Input, inputs, parent=parent)
    _write_parts(row, Binding, bindings, parent=parent)
    for definition, input_row in zip(inputs, input_rows, strict=True):
        if definition.inputs or definition.bindings:
            _write_inputs(row, definition.inputs, definition.bindings, parent=input_row)


def _write_parts(row: Endpoint, model: type[P], parts: Sequence[Definition], **fixed: Any) -> list[P]:
    """Store the parts of an endpoint in their order, and return their rows. `fixed`:
    columns that all share.
    """
    rows = [
        model(endpoint=row, position=position, **fixed, **part_values(part))
        for position, part in enumerate(parts)
    ]
    for part in rows:
        check_row(part)
    objects: models.Manager[Any] = model._default_manager
    return objects.bulk_create(rows)


def _acknowledgements(row: Endpoint, endpoint: EndpointDefinition) -> list[dict[str, str]]:
    """Return the acknowledgements to store.

    Unchanged ones keep their author; the history knows the author of new ones.
    """
    present = {
        (acknowledgement["entity"], acknowledgement["reason"]): acknowledgement
        for acknowledgement in row.acknowledgements
    }
    return [
        present.get((acknowledgement.entity, acknowledgement.reason))
        or {"entity": acknowledgement.entity, "reason": acknowledgement.reason}
        for acknowledgement in endpoint.acknowledgements
    ]


def _existing_module(segment: str) -> Module:
    """Return the row of a module. Raises ValidationError when there is none."""
    module = Module.objects.filter(segment=segment).first()
    if module is None:
        raise ValidationError({"module": no_module(segment)})
    return module


def _existing_entity(endpoint: EndpointDefinition) -> ExposedEntity:
    """Return the row of the entity that an endpoint works on. Raises ValidationError when there is none."""
    entity = ExposedEntity.objects.filter(module__segment=endpoint.module, segment=endpoint.exposure).first()
    if entity is None:
        raise ValidationError({"exposure": no_exposure(endpoint)})
    return entity


def _existing_roles(names: tuple[str, ...], field: str) -> list[Role]:
    """Return the rows of roles. Raises ValidationError, at the member `field`, for an unknown name."""
    roles_by_name = {role.name: role for role in Role.objects.filter(name__in=names)}
    if missing := [name for name in names if name not in roles_by_name]:
        raise ValidationError({field: no_role(missing[0])})
    return list(roles_by_name.values())


def _existing_caller_type(name: str) -> CallerType:
    """Return the row of a caller type. Raises ValidationError when there is none."""
    caller_type = CallerType.objects.filter(name=name).first()
    if caller_type is None:
        raise ValidationError({"caller_type": no_caller_type(name)})
    return caller_type


def _put_in_order(wanted: ConfigurationDocument) -> None:
    """Give the user properties the order of the document."""
    for position, user_property in enumerate(wanted.user_properties):
        rows = UserProperty.objects.filter(
            caller_type__name=user_property.caller_type, name=user_property.name
        )
        rows.update(position=position)


class _Row:
    """How the items of one list of the document become rows.

    `find` returns the row of an item, or None. `write` stores an item in a row, which may be a new one.
    """

    def __init__(
        self, model: type[models.Model], find: Callable[[Any], Any], write: Callable[[Any, Any], None]
    ) -> None:
        self.model = model
        self.find = find
        self.write = write


_ROWS = {
    "roles": _Row(Role, _find_role, _write_role),
    "caller_types": _Row(CallerType, _find_caller_type, _write_caller_type),
    "user_properties": _Row(UserProperty, _find_user_property, _write_user_property),
    "issuers": _Row(Issuer, _find_issuer, _write_issuer),
    "modules": _Row(Module, _find_module, _write_module),
    "entities": _Row(ExposedEntity, _find_entity, _write_entity),
    "endpoints": _Row(Endpoint, _find_endpoint, _write_endpoint),
}
