"""Making the changes of a plan, in the caller's transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.db import models
from django.db.models import ProtectedError

from designer.definitions import (
    BindingDefinition,
    ConfigurationDocument,
    Definition,
    EndpointDefinition,
    ExposedEntityDefinition,
    InputDefinition,
    ModuleDefinition,
    RoleDefinition,
    UserPropertyDefinition,
)
from designer.documents.plan import Change, Plan
from designer.documents.problems import DocumentError
from designer.models import (
    Binding,
    Column,
    Endpoint,
    ExposedEntity,
    Fetcher,
    Input,
    Module,
    Precondition,
    RelatedColumn,
    Role,
    UserProperty,
)
from designer.sentences import Sentence, listed

P = TypeVar("P", Input, Binding, Column, Fetcher, Precondition)


def apply(plan: Plan, wanted: ConfigurationDocument) -> None:
    """Make the confirmed changes. Raises DocumentError with all that is wrong; then roll back."""
    problems: list[str] = []
    for change in plan.changes:
        if change.confirmed:
            problems += _make(change)
    if problems:
        raise DocumentError(problems)
    if plan.reordered or any(change.collection.field == "user_properties" for change in plan.changes):
        _put_in_order(wanted)


def _make(change: Change) -> Iterator[str]:
    row = _ROWS[change.collection.field]
    what = change.collection.named(change.key)
    try:
        if change.after is None:
            row.find(change.before).delete()
        else:
            row.write(row.find(change.before or change.after) or row.model(), change.after)
    except ProtectedError as error:
        users = ", ".join(sorted(str(user) for user in error.protected_objects))
        yield Sentence("%(item)s is in use and cannot be removed: %(users)s", item=what, users=users)
    except ValidationError as error:
        for field, messages in error.message_dict.items():
            places = () if field == NON_FIELD_ERRORS else (field,)
            yield listed((what, *places, listed(messages, " ")), ": ")
    except ValueError as error:
        yield listed((what, str(error)), ": ")


def _check(row: models.Model) -> None:
    # Uniqueness is the natural key's, which the plan knows already; related rows have just been found.
    related = {field.name for field in row._meta.fields if field.is_relation}
    row.full_clean(exclude=related, validate_unique=False, validate_constraints=False)


def _save(row: models.Model, values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        setattr(row, name, value)
    _check(row)
    row.save()


def _find_role(role: RoleDefinition) -> Role | None:
    return Role.objects.filter(name=role.name).first()


def _write_role(row: Role, role: RoleDefinition) -> None:
    _save(row, {**role.model_dump(), "platform_roles": list(role.platform_roles)})


def _find_user_property(known: UserPropertyDefinition) -> UserProperty | None:
    return UserProperty.objects.filter(name=known.name).first()


def _write_user_property(row: UserProperty, known: UserPropertyDefinition) -> None:
    _save(row, known.model_dump(exclude={"columns"}))
    row.columns.all().delete()
    for at, column in enumerate(known.columns):
        _save(RelatedColumn(user_property=row, position=at), column.model_dump(exclude={"expression"}))


def _find_module(module: ModuleDefinition) -> Module | None:
    return Module.objects.filter(segment=module.segment).first()


def _write_module(row: Module, module: ModuleDefinition) -> None:
    _save(row, module.model_dump())


def _find_entity(entity: ExposedEntityDefinition) -> ExposedEntity | None:
    return ExposedEntity.objects.filter(module__segment=entity.module, segment=entity.segment).first()


def _write_entity(row: ExposedEntity, entity: ExposedEntityDefinition) -> None:
    _save(row, {**entity.model_dump(), "module": _module(entity.module)})


def _find_endpoint(endpoint: EndpointDefinition) -> Endpoint | None:
    same = Endpoint.objects.filter(kind=endpoint.kind, segment=endpoint.segment, name=endpoint.name)
    if endpoint.exposure:
        return same.filter(entity__module__segment=endpoint.module, entity__segment=endpoint.exposure).first()
    if endpoint.module:
        return same.filter(entity=None, module__segment=endpoint.module).first()
    return same.filter(entity=None, module=None).first()


def _write_endpoint(row: Endpoint, endpoint: EndpointDefinition) -> None:
    plain = {"kind", "segment", "name", "title", "description", "enabled", "row_rule"}
    places = {
        "module": _module(endpoint.module) if endpoint.module else None,
        "entity": _entity(endpoint) if endpoint.exposure else None,
    }
    access = {"authentication_required": endpoint.access.authentication_required}
    settings = {"settings": endpoint.settings.to_json()}
    _save(row, endpoint.model_dump(include=plain) | places | access | settings)
    row.roles.set(_roles(endpoint.access.roles))
    for model in (Binding, Input, Column, Fetcher, Precondition):
        model._default_manager.filter(endpoint=row).delete()
    _write_inputs(row, None, endpoint.inputs, endpoint.bindings)
    _write_parts(row, Column, endpoint.columns)
    _write_parts(row, Fetcher, endpoint.fetchers)
    _write_parts(row, Precondition, endpoint.preconditions)


def _write_inputs(
    row: Endpoint,
    parent: Input | None,
    inputs: Sequence[InputDefinition],
    bindings: Sequence[BindingDefinition],
) -> None:
    """The inputs and bindings of the endpoint or, with `parent`, of each item of a list."""
    written = _write_parts(row, Input, inputs, parent=parent)
    _write_parts(row, Binding, bindings, parent=parent)
    for definition, list_input in zip(inputs, written, strict=True):
        if definition.inputs or definition.bindings:
            _write_inputs(row, list_input, definition.inputs, definition.bindings)


def _write_parts(row: Endpoint, model: type[P], parts: Sequence[Definition], **fixed: Any) -> list[P]:
    rows = [
        model(endpoint=row, position=at, **fixed, **part.model_dump(exclude={"inputs", "bindings"}))
        for at, part in enumerate(parts)
    ]
    for part in rows:
        _check(part)
    objects: models.Manager[Any] = model._default_manager
    return objects.bulk_create(rows)


def _module(segment: str) -> Module:
    found = Module.objects.filter(segment=segment).first()
    if found is None:
        raise ValidationError(
            {"module": Sentence("There is no module “%(name)s”, here or in the document.", name=segment)}
        )
    return found


def _entity(endpoint: EndpointDefinition) -> ExposedEntity:
    found = ExposedEntity.objects.filter(module__segment=endpoint.module, segment=endpoint.exposure).first()
    if found is None:
        raise ValidationError(
            {
                "exposure": Sentence(
                    "Module “%(module)s” exposes no entity as “%(name)s”.",
                    module=endpoint.module,
                    name=endpoint.exposure,
                )
            }
        )
    return found


def _roles(names: tuple[str, ...]) -> list[Role]:
    found = {role.name: role for role in Role.objects.filter(name__in=names)}
    if missing := [name for name in names if name not in found]:
        raise ValidationError(
            {
                "access.roles": Sentence(
                    "There is no role “%(name)s”, here or in the document.", name=missing[0]
                )
            }
        )
    return list(found.values())


def _put_in_order(wanted: ConfigurationDocument) -> None:
    for at, known in enumerate(wanted.user_properties):
        UserProperty.objects.filter(name=known.name).update(position=at)


class _Row:
    """How the items of one list are found and written as rows."""

    def __init__(
        self, model: type[models.Model], find: Callable[[Any], Any], write: Callable[[Any, Any], None]
    ) -> None:
        self.model = model
        self.find = find
        self.write = write


_ROWS = {
    "roles": _Row(Role, _find_role, _write_role),
    "user_properties": _Row(UserProperty, _find_user_property, _write_user_property),
    "modules": _Row(Module, _find_module, _write_module),
    "entities": _Row(ExposedEntity, _find_entity, _write_entity),
    "endpoints": _Row(Endpoint, _find_endpoint, _write_endpoint),
}
