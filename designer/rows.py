"""Reads rows as definitions, by a handful of flat queries, whatever the number of rows.

A row that makes no definition does not affect others. Its endpoint has the reason, and keeps its path.
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
from designer.kinds import KINDS
from designer.library_messages import problems_of, reason_of
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
from designer.sentences import Sentence, at_place, listed
from designer.token_issuers.issuer_rows import ISSUER_COLUMNS, RULE_COLUMNS, issuer_data

D = TypeVar("D", bound=Definition)
# Why rows make no definition, by the noun and id of the row, such as `role 7`.
Unreadable = dict[str, str]
# The rows of one table as dicts, by the id of the row that they belong to.
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


# Marks in the text of `PROTECTED`, which no segment contains.
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
    """Read the modules, by row id."""
    rows = _rows_as_dicts(
        Module.objects.order_by("segment"), "segment", "title", "description", "translations"
    )
    return dict(_readable(ModuleDefinition, "module", rows, unreadable))


def entities(
    unreadable: Unreadable,
) -> tuple[dict[int, ExposedEntityDefinition], tuple[ExposedEntityDefinition, ...]]:
    """Return the exposed entities by row id, and stand-ins for those that cannot be read.

    No caller reaches a record of a stand-in.
    """
    names = ("module", "segment", "entity", "title", "description")
    joined = ExposedEntity.objects.order_by("module__segment", "segment", "row_rule__id").values_list(
        *("id", "module__segment", "segment", "entity", "title", "description"),
        *("row_rule__id", "row_rule__filter", "row_rule__all_records", "row_rule__roles__name"),
    )
    exposed: dict[int, dict[str, Any]] = {}
    entries: dict[int, dict[str, Any]] = {}
    # One row for each role of each entry. Without entries, or without roles, there is one with None.
    for id, *values, entry_id, filter, all_records, role in joined:
        row = exposed.setdefault(id, {**dict(zip(names, values, strict=True)), "row_rule": []})
        if entry_id is None:
            continue
        if entry_id not in entries:
            entries[entry_id] = {"roles": [], "filter": filter, "all_records": all_records}
            row["row_rule"].append(entries[entry_id])
        if role is not None:
            entries[entry_id]["roles"].append(role)
    # Read to the end before `closed` is made: only then is `unreadable` complete.
    entities_by_id = dict(_readable(ExposedEntityDefinition, "entity", exposed.items(), unreadable))
    # Without its stand-in, the rule of such an entity would not be applied to queries of its module.
    closed = tuple(closed_entity(row) for id, row in exposed.items() if f"entity {id}" in unreadable)
    return entities_by_id, closed


def roles(unreadable: Unreadable) -> dict[int, RoleDefinition]:
    """Read the roles, by row id."""
    rows = _rows_as_dicts(
        Role.objects.order_by("name"), "name", "title", "description", "platform_roles", "rate"
    )
    return dict(_readable(RoleDefinition, "role", rows, unreadable))


def caller_types(unreadable: Unreadable) -> tuple[CallerTypeDefinition, ...]:
    """Read the caller types, sorted by name."""
    rows = _rows_as_dicts(CallerType.objects.order_by("name"), "name", "entity", "title", "description")
    definitions = (
        caller_type for _, caller_type in _readable(CallerTypeDefinition, "caller type", rows, unreadable)
    )
    # Databases order - and _ in their own ways.
    return tuple(sorted(definitions, key=lambda caller_type: caller_type.name))


def user_properties(unreadable: Unreadable) -> tuple[UserPropertyDefinition, ...]:
    """Read the user properties with their columns, in their order."""
    columns = _rows_by_key(
        RelatedColumn.objects.order_by("user_property_id", "position", "id"),
        "user_property_id",
        _RELATED_COLUMN,
    )
    names = ("name", "caller_type", "kind", "attribute", "relationship", "expression", "description")
    rows = _rows_as_dicts(UserProperty.objects.order_by("position", "id"), *names)
    rows_with_columns = ((id, {**row, "columns": columns[id]}) for id, row in rows)
    return tuple(
        user_property
        for _, user_property in _readable(
            UserPropertyDefinition, "user property", rows_with_columns, unreadable
        )
    )


def issuers(unreadable: Unreadable) -> tuple[IssuerDefinition, ...]:
    """Read the issuers with their role rules, sorted by name."""
    # One query for both: most configurations have few issuers, and many have none.
    rows: dict[int, dict[str, Any]] = {}
    rules: defaultdict[int, list[dict[str, Any]]] = defaultdict(list)
    ordered = Issuer.objects.order_by("name", "role_rules__position", "role_rules__id")
    rule_columns = tuple(f"role_rules__{name}" for name in RULE_COLUMNS)
    for id, rule, *values in ordered.values_list("id", "role_rules__id", *ISSUER_COLUMNS, *rule_columns):
        # Not strict: the columns of the role rule follow those of the issuer.
        rows[id] = dict(zip(ISSUER_COLUMNS, values, strict=False))
        if rule is not None:
            rules[id].append(dict(zip(RULE_COLUMNS, values[len(ISSUER_COLUMNS) :], strict=True)))
    rows_with_rules = ((id, issuer_data(row, rules[id])) for id, row in rows.items())
    return tuple(issuer for _, issuer in _readable(IssuerDefinition, "issuer", rows_with_rules, unreadable))


def protections() -> tuple[Protection, ...]:
    """Read the protections, sorted by group."""
    rows = ProtectionRow.objects.order_by("group").values_list("group", "needs_approval")
    return tuple(Protection(group, needs_approval) for group, needs_approval in rows)


def protections_in(text: str | None) -> tuple[Protection, ...]:
    """Return the protections in the text that an expression of `PROTECTED` gives."""
    group_protections = (
        Protection(part.rstrip(_APPROVED).removeprefix(_EVERYTHING), part.endswith(_APPROVED))
        for part in (text or "").split()
    )
    return tuple(sorted(group_protections, key=lambda protection: protection.group))


def endpoints(
    exposed: Iterable[ExposedEntityDefinition],
    closed: Iterable[ExposedEntityDefinition],
    unreadable: Unreadable,
    only: Collection[int] | None = None,
) -> dict[int, Endpoint]:
    """Return the endpoints by row id: those in `only`, or all.

    `exposed` and `closed` are the results of `entities`. An endpoint of an unknown kind is left out, and the
    reason is added to `unreadable`.
    """
    surroundings = Surroundings.of(exposed, closed)
    of_endpoints = {} if only is None else {"endpoint_id__in": only}

    def parts(model: type[Model], names: tuple[str, ...]) -> Parts:
        """Return the parts of the endpoints, of one table, by the id of their endpoint."""
        rows = model._default_manager.filter(**of_endpoints).order_by("endpoint_id", "position", "id")
        return _rows_by_key(rows, "endpoint_id", names)

    inputs, bindings = parts(Input, _INPUT), parts(Binding, _BINDING)
    flat_parts = {
        "columns": parts(Column, _COLUMN),
        "fetchers": parts(Fetcher, _FETCHER),
        "preconditions": parts(Precondition, _PRECONDITION),
    }
    roles_by_endpoint: dict[int, list[str]] = defaultdict(list)
    granted = EndpointRole.objects.filter(**of_endpoints).order_by("endpoint_id", "role__name")
    for id, role in granted.values_list("endpoint_id", "role__name"):
        roles_by_endpoint[id].append(role)
    endpoints_by_id: dict[int, Endpoint] = {}
    for id, place, data in _endpoint_rows(only):
        data["access"]["roles"] = roles_by_endpoint[id]
        data |= {name: rows[id] for name, rows in flat_parts.items()}
        data |= _nested(inputs[id], bindings[id])
        if data["kind"] not in KINDS:
            unreadable[f"endpoint {id}"] = Sentence("There is no kind “%(kind)s”.", kind=data["kind"])
            continue
        endpoints_by_id[id] = _endpoint(data, surroundings.entity(*place), surroundings.exposures(place[0]))
    return endpoints_by_id


def _nested(inputs: list[dict[str, Any]], bindings: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the inputs and bindings of the endpoint itself, in which list inputs hold those of
    their items.

    `inputs` and `bindings` are the rows of all of them. The rows are changed: they lose their ids.
    """
    # None stands for the endpoint. Each input gets empty lists here, which the second loop fills.
    parts_by_input: dict[int | None, dict[str, Any]] = {None: {"inputs": [], "bindings": []}}
    for row in inputs:
        row |= parts_by_input.setdefault(row.pop("id"), {"inputs": [], "bindings": []})
    for field, rows in (("inputs", inputs), ("bindings", bindings)):
        for row in rows:
            place = parts_by_input.get(row.pop("parent_id"))
            # The parent is an input of another endpoint, which only SQL can write. A text is no list of
            # inputs: it fails the validation, so that the endpoint gets a problem instead of a wrong list.
            if place is None:
                return {"inputs": "An input or entity property belongs to a list of another endpoint."}
            place[field].append(row)
    return parts_by_input[None]


def _endpoint_rows(
    only: Collection[int] | None,
) -> Iterable[tuple[int, tuple[str, str], dict[str, Any]]]:
    """Yield id, place (module and exposed entity) and fields of each endpoint's row; only of the ids in
    `only`, if it is given.
    """
    rows = EndpointRow.objects.order_by("id")
    if only is not None:
        rows = rows.filter(id__in=only)
    places = ("module__segment", "entity__module__segment", "entity__segment")
    for id, own_module, entity_module, exposure, required, types, acknowledged, *values in rows.values_list(
        *("id", *places, "authentication_required", "caller_types", "acknowledgements"),
        *_ENDPOINT,
        *_JSON,
    ):
        module = entity_module or own_module or ""
        data = dict(zip((*_ENDPOINT, *_JSON), values, strict=True))
        data |= {"module": module, "exposure": exposure or ""}
        data["access"] = {"authentication_required": required, "caller_types": types}
        data["acknowledgements"] = _without_authors(acknowledged)
        yield id, (module, exposure or ""), data


def _without_authors(acknowledged: Any) -> Any:
    """Return acknowledgements without their author and time, which are no part of the configuration.

    What only SQL can have written, anything but a list of objects, stays as it is: it fails the validation.
    """
    if not isinstance(acknowledged, list) or not all(isinstance(item, dict) for item in acknowledged):
        return acknowledged
    return [{name: item.get(name, "") for name in ("entity", "reason")} for item in acknowledged]


def _access_of_wrong_row(data: Mapping[str, Any]) -> AccessDefinition:
    """Return the access of a row that makes no definition, without caller types where these are wrong."""
    try:
        return AccessDefinition.model_validate(data["access"])
    except ValidationError:
        return AccessDefinition.model_validate({**data["access"], "caller_types": ()})


def _endpoint(
    data: Mapping[str, Any],
    entity: ExposedEntityDefinition | None,
    exposures: tuple[ExposedEntityDefinition, ...],
) -> Endpoint:
    """Return the endpoint of a row. With wrong data, it has a minimal definition, and the problem."""
    try:
        return Endpoint(EndpointDefinition.model_validate(data), entity, exposures=exposures)
    except ValidationError as error:
        # Without a row rule, which may be what is wrong. An endpoint with a problem is not served.
        place = {key: data[key] for key in ("module", "exposure", *_ENDPOINT) if key != "row_rule"}
        access = _access_of_wrong_row(data)
        settings = KINDS[data["kind"]].settings.model_construct()
        minimal = EndpointDefinition.model_construct(**place, access=access, settings=settings)
        return Endpoint(minimal, entity, _why_unreadable(error), exposures)


def _readable(
    definition: type[D], noun: str, rows: Iterable[tuple[int, dict[str, Any]]], unreadable: Unreadable
) -> Iterable[tuple[int, D]]:
    """Yield the definitions by row id. Add the reasons for rows that make none to `unreadable`."""
    for id, row in rows:
        try:
            yield id, definition.model_validate(row)
        except ValidationError as error:
            unreadable[f"{noun} {id}"] = _why_unreadable(error)


def _why_unreadable(error: ValidationError) -> str:
    """Return what is wrong with a row: each problem after its place."""
    problems = (
        at_place(".".join(str(part) for part in problem["loc"]), reason_of(problem))
        for problem in problems_of(error)
    )
    return listed(problems, "; ")


def _rows_as_dicts(rows: QuerySet[Any, Any], *names: str) -> Iterable[tuple[int, dict[str, Any]]]:
    """Yield the id of each row, and its columns `names` as a dict."""
    return ((id, dict(zip(names, values, strict=True))) for id, *values in rows.values_list("id", *names))


def _rows_by_key(rows: QuerySet[Any, Any], by: str, names: tuple[str, ...]) -> Parts:
    """Return the columns `names` of each row as a dict, grouped by the column `by`."""
    groups: Parts = defaultdict(list)
    for key, *values in rows.values_list(by, *names):
        groups[key].append(dict(zip(names, values, strict=True)))
    return groups
