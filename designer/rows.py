"""The configuration's rows as definitions, by a handful of flat queries, whatever their number.

A row that makes no definition spoils no other: its endpoint carries the reason, and still has its path.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any, TypeVar

from django.db.models import Model, QuerySet
from pydantic import ValidationError

from designer.configuration import Endpoint, Protection, Surroundings
from designer.definitions import (
    AccessDefinition,
    CallerTypeDefinition,
    Definition,
    EndpointDefinition,
    ExposedEntityDefinition,
    IssuerDefinition,
    ModuleDefinition,
    RoleDefinition,
    UserPropertyDefinition,
    closed_entity,
)
from designer.issuer_rows import ISSUER_COLUMNS, RULE_COLUMNS, issuer_data
from designer.kinds import KINDS
from designer.models import (
    Binding,
    CallerType,
    Column,
    EndpointRole,
    ExposedEntity,
    Fetcher,
    Input,
    Issuer,
    Module,
    Precondition,
    RelatedColumn,
    Role,
    UserProperty,
)
from designer.models import Endpoint as EndpointRow
from designer.models import Protection as ProtectionRow
from designer.reasons import reason_of
from designer.sentences import Sentence, listed

D = TypeVar("D", bound=Definition)
Unreadable = dict[str, str]
Parts = defaultdict[int, list[dict[str, Any]]]

_INPUT = (
    *("id", "parent_id", "name", "type", "required", "nullable", "default", "label", "description"),
    "translations",
    *("minimum", "maximum", "min_length", "max_length", "pattern", "allowed", "relationship"),
)
_BINDING = ("parent_id", "attribute", "source", "value")
_COLUMN = ("attribute", "name", "expression")
_RELATED_COLUMN = ("attribute", "name")
_FETCHER = ("name", "query", "first", "apply_row_rules")
_PRECONDITION = ("expression", "status", "message", "translations")
_ENDPOINT = ("kind", "segment", "name", "title", "description", "enabled", "row_rule")
_JSON = ("translations", "settings", "example_calls")


# No segment has any of these.
_APPROVED, _EVERYTHING = "+", "*"
_PROTECTED = (
    "(SELECT {join}(CASE \"group\" WHEN '' THEN '*' ELSE \"group\" END "
    "|| CASE WHEN needs_approval THEN '+' ELSE '' END, ' ') FROM designer_protection)"
)
# By the database's vendor, all protections as one text: a scalar expression for `read_revision_and`.
PROTECTED = {
    "sqlite": _PROTECTED.format(join="group_concat"),
    "postgresql": _PROTECTED.format(join="string_agg"),
}


def modules(unreadable: Unreadable) -> dict[int, ModuleDefinition]:
    """By row id."""
    rows = _dicts(Module.objects.order_by("segment"), "segment", "title", "description", "translations")
    return dict(_readable(ModuleDefinition, "module", rows, unreadable))


def entities(
    unreadable: Unreadable,
) -> tuple[dict[int, ExposedEntityDefinition], tuple[ExposedEntityDefinition, ...]]:
    """The exposed entities by row id, and stand-ins for those that cannot be read: nobody reaches a record of
    them."""
    names = ("module", "segment", "entity", "title", "description")
    joined = ExposedEntity.objects.order_by("module__segment", "segment", "row_rule__id").values_list(
        *("id", "module__segment", "segment", "entity", "title", "description"),
        *("row_rule__id", "row_rule__filter", "row_rule__all_records", "row_rule__roles__name"),
    )
    exposed: dict[int, dict[str, Any]] = {}
    entries: dict[int, dict[str, Any]] = {}
    for id, *values, entry, filter, all_records, role in joined:
        row = exposed.setdefault(id, {**dict(zip(names, values, strict=True)), "row_rule": []})
        if entry is None:
            continue
        if entry not in entries:
            entries[entry] = {"roles": [], "filter": filter, "all_records": all_records}
            row["row_rule"].append(entries[entry])
        if role is not None:
            entries[entry]["roles"].append(role)
    found = dict(_readable(ExposedEntityDefinition, "entity", exposed.items(), unreadable))
    # Without its stand-in, the rule of such an entity would not be applied to queries of its module.
    closed = tuple(closed_entity(row) for id, row in exposed.items() if f"entity {id}" in unreadable)
    return found, closed


def roles(unreadable: Unreadable) -> dict[int, RoleDefinition]:
    """By row id."""
    rows = _dicts(Role.objects.order_by("name"), "name", "title", "description", "platform_roles", "rate")
    return dict(_readable(RoleDefinition, "role", rows, unreadable))


def caller_types(unreadable: Unreadable) -> tuple[CallerTypeDefinition, ...]:
    rows = _dicts(CallerType.objects.order_by("name"), "name", "entity", "title", "description")
    found = (known for _, known in _readable(CallerTypeDefinition, "caller type", rows, unreadable))
    # Databases order - and _ in their own ways.
    return tuple(sorted(found, key=lambda known: known.name))


def user_properties(unreadable: Unreadable) -> tuple[UserPropertyDefinition, ...]:
    columns = _grouped(
        RelatedColumn.objects.order_by("user_property_id", "position", "id"),
        "user_property_id",
        _RELATED_COLUMN,
    )
    names = ("name", "caller_type", "kind", "attribute", "relationship", "expression", "description")
    rows = _dicts(UserProperty.objects.order_by("position", "id"), *names)
    whole = ((id, {**row, "columns": columns[id]}) for id, row in rows)
    return tuple(known for _, known in _readable(UserPropertyDefinition, "user property", whole, unreadable))


def issuers(unreadable: Unreadable) -> tuple[IssuerDefinition, ...]:
    # One query for both: most configurations have few issuers, and many have none.
    rows: dict[int, dict[str, Any]] = {}
    rules: defaultdict[int, list[dict[str, Any]]] = defaultdict(list)
    ordered = Issuer.objects.order_by("name", "role_rules__position", "role_rules__id")
    of_rules = tuple(f"role_rules__{name}" for name in RULE_COLUMNS)
    for id, rule, *values in ordered.values_list("id", "role_rules__id", *ISSUER_COLUMNS, *of_rules):
        rows[id] = dict(zip(ISSUER_COLUMNS, values, strict=False))
        if rule is not None:
            rules[id].append(dict(zip(RULE_COLUMNS, values[len(ISSUER_COLUMNS) :], strict=True)))
    whole = ((id, issuer_data(row, rules[id])) for id, row in rows.items())
    return tuple(known for _, known in _readable(IssuerDefinition, "issuer", whole, unreadable))


def protections() -> tuple[Protection, ...]:
    rows = ProtectionRow.objects.order_by("group").values_list("group", "needs_approval")
    return tuple(Protection(group, needs_approval) for group, needs_approval in rows)


def protections_in(text: str | None) -> tuple[Protection, ...]:
    """Those that an expression of `PROTECTED` gives."""
    found = (
        Protection(part.rstrip(_APPROVED).removeprefix(_EVERYTHING), part.endswith(_APPROVED))
        for part in (text or "").split()
    )
    return tuple(sorted(found, key=lambda protection: protection.group))


def endpoints(
    exposed: Iterable[ExposedEntityDefinition],
    closed: Iterable[ExposedEntityDefinition],
    unreadable: Unreadable,
    only: Collection[int] | None = None,
) -> dict[int, Endpoint]:
    """Endpoints by row id, those of `only` or all. `closed`: see `entities`."""
    surroundings = Surroundings.of(exposed, closed)
    of_endpoints = {} if only is None else {"endpoint_id__in": only}

    def parts(model: type[Model], names: tuple[str, ...]) -> Parts:
        rows = model._default_manager.filter(**of_endpoints).order_by("endpoint_id", "position", "id")
        return _grouped(rows, "endpoint_id", names)

    inputs, bindings = parts(Input, _INPUT), parts(Binding, _BINDING)
    flat = {
        "columns": parts(Column, _COLUMN),
        "fetchers": parts(Fetcher, _FETCHER),
        "preconditions": parts(Precondition, _PRECONDITION),
    }
    callers: dict[int, list[str]] = defaultdict(list)
    granted = EndpointRole.objects.filter(**of_endpoints).order_by("endpoint_id", "role__name")
    for id, role in granted.values_list("endpoint_id", "role__name"):
        callers[id].append(role)
    found: dict[int, Endpoint] = {}
    for id, place, data in _endpoint_rows(only):
        data["access"]["roles"] = callers[id]
        data |= {name: rows[id] for name, rows in flat.items()}
        data |= _nested(inputs[id], bindings[id])
        if data["kind"] not in KINDS:
            unreadable[f"endpoint {id}"] = Sentence("There is no kind “%(kind)s”.", kind=data["kind"])
            continue
        found[id] = _endpoint(data, surroundings.entity(*place), surroundings.exposures(place[0]))
    return found


def _nested(inputs: list[dict[str, Any]], bindings: list[dict[str, Any]]) -> dict[str, Any]:
    """The inputs and bindings of the endpoint itself, with those of its lists inside them."""
    own: dict[int | None, dict[str, Any]] = {None: {"inputs": [], "bindings": []}}
    for row in inputs:
        row |= own.setdefault(row.pop("id"), {"inputs": [], "bindings": []})
    for field, rows in (("inputs", inputs), ("bindings", bindings)):
        for row in rows:
            place = own.get(row.pop("parent_id"))
            # A list of another endpoint's, which only SQL can write: no part of a definition.
            if place is None:
                return {"inputs": "An input or entity property belongs to a list of another endpoint."}
            place[field].append(row)
    return own[None]


def _endpoint_rows(
    only: Collection[int] | None,
) -> Iterable[tuple[int, tuple[str, str], dict[str, Any]]]:
    rows = EndpointRow.objects.order_by("id")
    if only is not None:
        rows = rows.filter(id__in=only)
    places = ("module__segment", "entity__module__segment", "entity__segment")
    for id, own, of_entity, exposure, required, types, acknowledged, *values in rows.values_list(
        *("id", *places, "authentication_required", "caller_types", "acknowledgements"),
        *_ENDPOINT,
        *_JSON,
    ):
        module = of_entity or own or ""
        data = dict(zip((*_ENDPOINT, *_JSON), values, strict=True))
        data |= {"module": module, "exposure": exposure or ""}
        data["access"] = {"authentication_required": required, "caller_types": types}
        data["acknowledgements"] = [
            {name: one.get(name, "") for name in ("entity", "reason")} for one in acknowledged
        ]
        yield id, (module, exposure or ""), data


def _endpoint(
    data: Mapping[str, Any],
    entity: ExposedEntityDefinition | None,
    exposures: tuple[ExposedEntityDefinition, ...],
) -> Endpoint:
    try:
        return Endpoint(EndpointDefinition.model_validate(data), entity, exposures=exposures)
    except ValidationError as error:
        place = {key: data[key] for key in ("module", "exposure", *_ENDPOINT) if key != "row_rule"}
        access = AccessDefinition.model_validate(data["access"])
        settings = KINDS[data["kind"]].settings.model_construct()
        minimal = EndpointDefinition.model_construct(**place, access=access, settings=settings)
        return Endpoint(minimal, entity, _reason(error), exposures)


def _readable(
    definition: type[D], what: str, rows: Iterable[tuple[int, dict[str, Any]]], unreadable: Unreadable
) -> Iterable[tuple[int, D]]:
    for id, row in rows:
        try:
            yield id, definition.model_validate(row)
        except ValidationError as error:
            unreadable[f"{what} {id}"] = _reason(error)


def _reason(error: ValidationError) -> str:
    problems = (
        listed((".".join(str(part) for part in problem["loc"]), reason_of(problem)), ": ")
        for problem in error.errors()
    )
    return listed(problems, "; ")


def _dicts(rows: QuerySet[Any, Any], *names: str) -> Iterable[tuple[int, dict[str, Any]]]:
    return ((id, dict(zip(names, values, strict=True))) for id, *values in rows.values_list("id", *names))


def _grouped(rows: QuerySet[Any, Any], by: str, names: tuple[str, ...]) -> Parts:
    groups: Parts = defaultdict(list)
    for key, *values in rows.values_list(by, *names):
        groups[key].append(dict(zip(names, values, strict=True)))
    return groups
