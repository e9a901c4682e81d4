"""Running processes: actions by POST, functions by GET."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final
from urllib.parse import quote

from crmclient.dataverse import paths
from crmclient.dataverse.api import FORMATTED, Api
from crmclient.dataverse.error_subjects import Kind, Subject
from crmclient.dataverse.metadata.catalogue import Catalogue
from crmclient.dataverse.metadata.documents import ProcessDocument
from crmclient.dataverse.records.decoding import decode
from crmclient.dataverse.records.encoding import encode
from crmclient.dataverse.records.payload import payload
from crmclient.dataverse.records.writes import record_id
from crmclient.errors import InvalidRecord, InvalidValue, UnexpectedAnswer, UnknownProcess
from crmclient.metadata import AttributeType, Holds, Process, ProcessParameter
from crmclient.parameters import as_attribute, in_place, problems, records_in, target_problems
from crmclient.platform import Call
from crmclient.sentences import Sentence
from crmclient.values import NewRecord, ProcessValue, ProcessValues, Reference, parse_guid

NAMESPACE: Final = "Microsoft.Dynamics.CRM"
_NO_CONTENT: Final = 204
_IN_QUOTES: Final = frozenset({AttributeType.STRING, AttributeType.MEMO})


class Processes:
    """Runs processes. Raises what `Platform.execute` raises."""

    def __init__(self, api: Api, catalogue: Catalogue) -> None:
        self._api = api
        self._catalogue = catalogue

    def execute(
        self, name: str, inputs: ProcessValues, target: Reference | None, call: Call
    ) -> ProcessValues:
        """Run the process `name`, on the record `target` if it is bound to an entity. Return its outputs."""
        document = self._catalogue.processes().get(name)
        if document is None:
            raise UnknownProcess(name)
        invalid_values = target_problems(document.process, target)
        invalid_values += problems(document.process.inputs, inputs, encode)
        if invalid_values:
            raise InvalidRecord(name, invalid_values)
        content = self._content(document, inputs)
        path = self._path(name, target)
        subject = Subject(
            kind=Kind.PROCESS,
            entity=target.entity if target else "",
            id=target.id if target else "",
            name=name,
            values=inputs,
        )
        if document.is_function:
            return self._outputs(
                document.process,
                self._api.get(_function_call(path, document.process, content), subject, call),
            )
        answer = self._api.write("POST", path, content, subject, call)
        if answer.status == _NO_CONTENT:
            return {parameter.name: None for parameter in document.process.outputs}
        return self._outputs(document.process, answer.json())

    def _path(self, name: str, target: Reference | None) -> str:
        """Return the path of a process: its name, below the path of the record that it runs on, if any."""
        if target is None:
            return name
        entity = self._catalogue.entity(target.entity)
        return f"{paths.record(entity, record_id(entity, target.id))}/{NAMESPACE}.{name}"

    def _content(self, document: ProcessDocument, inputs: ProcessValues) -> dict[str, Any]:
        """Return the inputs as the content of a request.

        Raises InvalidRecord with everything that is wrong with the records among the inputs.
        """
        content: dict[str, Any] = {}
        invalid_values: list[InvalidValue] = []
        for parameter in document.process.inputs:
            value = inputs.get(parameter.name)
            if value is None:
                continue
            if parameter.holds is not Holds.VALUE:
                records = [
                    self._record(place, record, invalid_values)
                    for place, record in records_in(value, parameter.name)
                ]
                # What holds one record has exactly one: `problems` has checked that before.
                content[parameter.name] = records if parameter.holds is Holds.RECORDS else records[0]
            elif isinstance(value, Reference):
                content[parameter.name] = self._reference(value, by_url=document.is_function)
            else:
                content[parameter.name] = encode(as_attribute(parameter), value)
        if invalid_values:
            raise InvalidRecord(document.process.name, invalid_values)
        return content

    def _record(self, place: str, record: NewRecord, invalid_values: list[InvalidValue]) -> dict[str, Any]:
        """Return the content of a record that the process is to create. Adds mistakes to `invalid_values`."""
        entity = self._catalogue.entity(record.entity)
        try:
            content = payload(self._catalogue, entity, record.values, creating=True)
        except InvalidRecord as error:
            invalid_values += [in_place(place, problem) for problem in error.problems]
            content = {}
        return {"@odata.type": f"{NAMESPACE}.{record.entity}", **content}

    def _reference(self, value: Reference, *, by_url: bool) -> dict[str, str]:
        """Return a record as an input: by its URL for functions, by its type and id for actions."""
        entity = self._catalogue.entity(value.entity)
        if by_url:
            return {"@odata.id": paths.record(entity, value.id)}
        return {"@odata.type": f"{NAMESPACE}.{value.entity}", entity.primary_id: value.id}

    def _outputs(self, process: Process, answer: Mapping[str, Any]) -> dict[str, ProcessValue]:
        """Return the outputs of a process by name. Raises UnexpectedAnswer."""
        if self._is_record(process, answer):
            # An entity that is the only output comes as the answer itself.
            return {process.outputs[0].name: self._referenced(process.outputs[0], answer)}
        # An output that is null may be left out. Without any output and without a context, the answer is not
        # one of Dataverse.
        expected = {"@odata.context", *(parameter.name for parameter in process.outputs)}
        if process.outputs and expected.isdisjoint(answer):
            raise UnexpectedAnswer(
                Sentence("The answer has none of the outputs of %(process)s.", process=process.name)
            )
        return {parameter.name: self._output(parameter, answer) for parameter in process.outputs}

    def _is_record(self, process: Process, answer: Mapping[str, Any]) -> bool:
        """Whether the answer is itself the record that is the only output."""
        if len(process.outputs) != 1 or process.outputs[0].name in answer:
            return False
        (output,) = process.outputs
        if not output.type.is_reference or output.holds is Holds.RECORDS:
            return False
        # A record says its type, or has the primary key of an entity that the output may be of.
        keys = {self._catalogue.entity(name).primary_id for name in output.targets}
        return "@odata.type" in answer or not keys.isdisjoint(answer)

    def _output(self, parameter: ProcessParameter, answer: Mapping[str, Any]) -> ProcessValue:
        """Return one output from the answer; None for an empty one. Raises UnexpectedAnswer."""
        value = answer.get(parameter.name)
        if parameter.holds is Holds.RECORDS:
            if value is not None and not isinstance(value, list):
                raise UnexpectedAnswer(
                    Sentence("The output %(output)s is no list of records.", output=parameter.name)
                )
            return None if value is None else tuple(self._referenced(parameter, item) for item in value)
        if value is None:
            return None
        if parameter.type.is_reference:
            return self._referenced(parameter, value)
        return decode(as_attribute(parameter), value)

    def _referenced(self, parameter: ProcessParameter, record: Any) -> Reference:
        """Return a record in an answer as a reference. Raises UnexpectedAnswer."""
        try:
            name = str(record.get("@odata.type", "")).rpartition(".")[2] or parameter.targets[0]
            entity = self._catalogue.entity(name)
            shown_name = record.get(entity.primary_name) if entity.primary_name else record.get(FORMATTED)
            return Reference(name, parse_guid(record[entity.primary_id]), shown_name)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            raise UnexpectedAnswer(
                Sentence("The output %(output)s is no record.", output=parameter.name)
            ) from None


def _function_call(path: str, process: Process, content: Mapping[str, Any]) -> str:
    """Return the URL of a call to a function.

    Its arguments are aliases with their values in the query string.
    """
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
    """Return an encoded value as OData writes it in a URL."""
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
