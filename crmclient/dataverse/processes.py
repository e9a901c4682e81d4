"""Running custom APIs: actions by POST, functions by GET."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final
from urllib.parse import quote

from crmclient.dataverse import paths
from crmclient.dataverse.api import FORMATTED, Api
from crmclient.dataverse.metadata.catalogue import Catalogue
from crmclient.dataverse.metadata.documents import ProcessDocument
from crmclient.dataverse.records.decoding import decode
from crmclient.dataverse.records.encoding import encode
from crmclient.dataverse.records.writes import record_id
from crmclient.dataverse.subjects import Kind, Subject
from crmclient.errors import InvalidRecord, UnexpectedAnswer, UnknownProcess
from crmclient.metadata import AttributeType, Process, ProcessParameter
from crmclient.parameters import as_attribute, problems, target_problems
from crmclient.platform import Call
from crmclient.values import Reference, Value, Values, parse_guid

NAMESPACE: Final = "Microsoft.Dynamics.CRM"
_NO_CONTENT: Final = 204
_IN_QUOTES: Final = frozenset({AttributeType.STRING, AttributeType.MEMO})


class Processes:
    """Raises as `Platform.execute`."""

    def __init__(self, api: Api, catalogue: Catalogue) -> None:
        self._api = api
        self._catalogue = catalogue

    def execute(self, name: str, inputs: Values, target: Reference | None, call: Call) -> Mapping[str, Value]:
        known = self._catalogue.processes().get(name)
        if known is None:
            raise UnknownProcess(name)
        wrong = target_problems(known.process, target) + problems(known.process.inputs, inputs, encode)
        if wrong:
            raise InvalidRecord(name, wrong)
        content = self._content(known, inputs)
        path = self._path(name, target)
        subject = Subject(
            Kind.PROCESS, target.entity if target else "", target.id if target else "", name, inputs
        )
        if known.is_function:
            return self._outputs(
                known.process, self._api.get(_called(path, known.process, content), subject, call)
            )
        answer = self._api.write("POST", path, content, subject, call)
        if answer.status == _NO_CONTENT:
            return {parameter.name: None for parameter in known.process.outputs}
        return self._outputs(known.process, answer.json())

    def _path(self, name: str, target: Reference | None) -> str:
        if target is None:
            return name
        entity = self._catalogue.entity(target.entity)
        return f"{paths.record(entity, record_id(entity, target.id))}/{NAMESPACE}.{name}"

    def _content(self, known: ProcessDocument, inputs: Values) -> dict[str, Any]:
        content: dict[str, Any] = {}
        for parameter in known.process.inputs:
            value = inputs.get(parameter.name)
            if value is None:
                continue
            if isinstance(value, Reference):
                content[parameter.name] = self._reference(value, by_url=known.is_function)
            else:
                content[parameter.name] = encode(as_attribute(parameter), value)
        return content

    def _reference(self, value: Reference, *, by_url: bool) -> dict[str, str]:
        entity = self._catalogue.entity(value.entity)
        if by_url:
            return {"@odata.id": paths.record(entity, value.id)}
        return {"@odata.type": f"{NAMESPACE}.{value.entity}", entity.primary_id: value.id}

    def _outputs(self, process: Process, answer: Mapping[str, Any]) -> dict[str, Value]:
        # Outputs that are null may be left out, so that of another's JSON only this is seen.
        expected = {"@odata.context", *(parameter.name for parameter in process.outputs)}
        if process.outputs and expected.isdisjoint(answer):
            raise UnexpectedAnswer(f"The answer has none of the outputs of {process.name}.")
        return {parameter.name: self._output(parameter, answer) for parameter in process.outputs}

    def _output(self, parameter: ProcessParameter, answer: Mapping[str, Any]) -> Value:
        value = answer.get(parameter.name)
        if parameter.type.is_reference:
            # An entity that is the only output comes as the answer itself.
            record = answer if value is None and "@odata.type" in answer else value
            return None if record is None else self._referenced(parameter, record)
        return None if value is None else decode(as_attribute(parameter), value)

    def _referenced(self, parameter: ProcessParameter, record: Any) -> Reference:
        try:
            name = str(record.get("@odata.type", "")).rpartition(".")[2] or parameter.targets[0]
            entity = self._catalogue.entity(name)
            shown = record.get(entity.primary_name) if entity.primary_name else record.get(FORMATTED)
            return Reference(name, parse_guid(record[entity.primary_id]), shown)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            raise UnexpectedAnswer(f"The output {parameter.name} is no record.") from None


def _called(path: str, process: Process, content: Mapping[str, Any]) -> str:
    """A function's call: each argument an alias, whose value stands in the query string."""
    if not content:
        return f"{path}()"
    quoted = {parameter.name for parameter in process.inputs if parameter.type in _IN_QUOTES}
    names = ",".join(f"{name}=@p{number}" for number, name in enumerate(content, 1))
    values = "&".join(
        f"@p{number}={quote(_literal(value, in_quotes=name in quoted), safe='')}"
        for number, (name, value) in enumerate(content.items(), 1)
    )
    return f"{path}({names})?{values}"


def _literal(value: Any, *, in_quotes: bool) -> str:
    """An encoded value as OData writes it in a URL."""
    match value:
        case bool():
            return "true" if value else "false"
        case Decimal():
            return f"{value:f}"
        case str() if in_quotes:
            doubled = value.replace("'", "''")
            return f"'{doubled}'"
        case dict():
            return "{" + ",".join(f"'{key}':'{text}'" for key, text in value.items()) + "}"
    return str(value)
