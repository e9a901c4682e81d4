"""Parameters of operations: JSON or URL literals in, JSON out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from crmbox.webapi.body import parse
from crmbox.webapi.errors import bad_payload, bad_url, unsupported
from crmbox.webapi.model import Model
from crmbox.webapi.paths import Argument, unquoted
from crmbox.webapi.records.draft import read_draft
from crmbox.webapi.records.references import read_reference
from crmbox.webapi.records.values import read_value
from crmbox.webapi.rendering import plain_value
from crmbox.webapi.request import Request
from crmclient.errors import InvalidRecord, InvalidValue, UnknownAttribute
from crmclient.metadata import Attribute, Holds, Process, ProcessParameter
from crmclient.parameters import in_place
from crmclient.values import NewRecord, ProcessValue, ProcessValues, Reference, parse_guid

_WHOLE: Final = re.compile("-?[0-9]+").fullmatch


def read_inputs(request: Request, process: Process, raw_values: Mapping[str, Any]) -> dict[str, ProcessValue]:
    """Convert the values of a call, by parameter name, to those of the process.

    Raises InvalidRecord for unknown parameters and wrong values.
    """
    parameters = {parameter.name: parameter for parameter in process.inputs}
    values: dict[str, ProcessValue] = {}
    problems: list[InvalidValue] = []
    for name, value in raw_values.items():
        # Annotations such as `name@odata.type` are not parameters.
        if "@" in name:
            continue
        if name not in parameters:
            message = f"The parameter '{name}' is not a valid parameter for the operation '{process.name}'."
            problems.append(UnknownAttribute(name, message))
            continue
        try:
            values[name] = _input_value(request, parameters[name], value)
        except InvalidValue as problem:
            problems.append(problem)
        except InvalidRecord as error:
            problems += error.problems
    if problems:
        raise InvalidRecord(process.name, problems)
    return values


def read_arguments(request: Request, arguments: tuple[Argument, ...]) -> dict[str, Any]:
    """Return the arguments of a function in a URL, as the values that JSON would have.

    Raises WebApiError.
    """
    values: dict[str, Any] = {}
    for argument in arguments:
        if argument.name is None:
            raise bad_url(f"'{argument.value}' is no named parameter of a function.")
        values[argument.name] = _literal(request.without_alias(argument.value))
    return values


def read_record(request: Request, raw: Any, name: str) -> Reference:
    """Return the record that a body refers to, with its `@odata.id` or its primary key.

    Without an `@odata.type`, the type is that of an entity with the primary key. Raises
    WebApiError.
    """
    if not isinstance(raw, dict):
        raise bad_payload(f'\'{name}\' needs a record, such as {{"@odata.id": "contacts(…)"}}.')
    for link in ("@odata.id", "@odata.bind"):
        if link in raw:
            return read_reference(request, raw[link])
    type_name = str(raw.get("@odata.type", "")).rpartition(".")[2]
    types = [type_name] if type_name else _types_of(request.model, raw)
    for entity in types:
        if entity in request.model.snapshot:
            key = request.model.entity_type(entity).entity.primary_id
            if key in raw:
                return Reference(entity, _guid(raw[key], name))
    raise bad_payload(f"'{name}' needs an @odata.type and the record's primary key.")


def render_outputs(model: Model, outputs: ProcessValues) -> dict[str, Any]:
    return {name: _output_json(model, value) for name, value in outputs.items()}


def _output_json(model: Model, value: Any) -> Any:
    """Return an output as JSON: a record by its type and id, several as a list, any other value plain."""
    if isinstance(value, Reference):
        return reference_json(model, value)
    if isinstance(value, tuple) and all(isinstance(item, Reference) for item in value):
        return [reference_json(model, item) for item in value]
    return plain_value(value)


def reference_json(model: Model, reference: Reference) -> dict[str, Any]:
    """Return a record as JSON, by its type and its id alone."""
    type_ = model.entity_type(reference.entity)
    return {"@odata.type": f"#{type_.type_name}", type_.entity.primary_id: reference.id}


def _input_value(request: Request, parameter: ProcessParameter, raw: Any) -> ProcessValue:
    """Return the value of an input from JSON: records to create, a record that there is, or a plain value.

    Raises WebApiError, InvalidValue and InvalidRecord.
    """
    if raw is None:
        return None
    match parameter.holds:
        case Holds.RECORD:
            return _new_record(request, parameter, raw, parameter.name)
        case Holds.RECORDS:
            if not isinstance(raw, list):
                raise bad_payload(f"'{parameter.name}' takes an array of records.")
            places = (f"{parameter.name}/{index}" for index in range(len(raw)))
            return tuple(
                _new_record(request, parameter, item, place) for item, place in zip(raw, places, strict=True)
            )
    if parameter.type.is_reference:
        return read_record(request, raw, parameter.name)
    return read_value(Attribute(parameter.name, parameter.type), raw)


def _new_record(request: Request, parameter: ProcessParameter, raw: Any, place: str) -> NewRecord:
    """Return a record to create.

    Raises WebApiError, and InvalidRecord with problems that name `place`.
    """
    if not isinstance(raw, dict):
        raise bad_payload(f"'{place}' takes a record.")
    type_name = str(raw.get("@odata.type", "")).rpartition(".")[2]
    type_ = request.model.entity_type(type_name or parameter.targets[0])
    try:
        draft = read_draft(request, type_, raw, creating=True)
    except InvalidRecord as error:
        raise InvalidRecord(type_.name, [in_place(place, problem) for problem in error.problems]) from error
    if not draft.is_simple:
        raise unsupported(f"related records and files in '{place}'")
    id = {} if draft.id is None else {type_.entity.primary_id: draft.id}
    return NewRecord(type_.name, {**draft.values, **id})


def _types_of(model: Model, properties: Mapping[str, Any]) -> list[str]:
    """Return the entities whose primary key is among the properties.

    If only one entity has the key, that is as good as a type.
    """
    return [
        name for name, stored in model.snapshot.entities.items() if stored.entity.primary_id in properties
    ]


def _guid(raw: Any, name: str) -> str:
    """Return the id in the parameter `name`, in its canonical form. Raises WebApiError."""
    try:
        return parse_guid(raw if isinstance(raw, str) else "")
    except ValueError:
        raise bad_payload(f"'{name}': {raw!r} is no GUID.") from None


def _literal(text: str) -> Any:
    """Return the value of a literal in a URL: a text in quotes, a number, `true`, `false`, `null`, or JSON.

    Quotes in JSON may be of either kind. Anything else, such as a GUID or a date, is returned as a text.
    """
    if text.startswith("'"):
        return unquoted(text)
    if text.startswith(("{", "[")):
        return parse(text.replace("'", '"').encode() if '"' not in text else text.encode())
    if text in ("true", "false", "null"):
        return {"true": True, "false": False, "null": None}[text]
    # A longer number becomes a Decimal below, because `int` refuses thousands of digits.
    if _WHOLE(text) and len(text) < 20:
        return int(text)
    try:
        number = Decimal(text)
    except ArithmeticError:
        return text
    # Decimal also reads words such as `Infinity`, which are no numbers of JSON.
    return number if number.is_finite() else text
