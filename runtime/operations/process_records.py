"""Inputs that hold records for a process to create: one, or a list of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from crmclient import NewRecord, Platform, ProcessValue
from crmclient.errors import InvalidRecord, InvalidValue
from crmclient.metadata import Process
from designer.configuration import Endpoint
from designer.kinds.record_groups import groups_of_process
from runtime.http.problems import Problem
from runtime.operations.child_records import Item, Lists, merged_problem, results_of_all
from runtime.operations.payload import Payload
from runtime.request_context import Exchange
from runtime.steps.create_guards import Child, CreateGuards
from runtime.values.inputs import Sent


class ProcessRecords:
    """The records that callers of an endpoint hand to `process`.

    Raises Misconfigured; QueryProblems where a row rule does not fit its entity; and UnknownEntity.
    """

    def __init__(self, endpoint: Endpoint, process: Process, platform: Platform) -> None:
        self._process = process.name
        self._lists = Lists(endpoint, lambda: groups_of_process(process), platform)
        # A call creates no record of the exposed entity, whose row rule could be checked. Only those in the
        # parameters are new.
        self._guards = CreateGuards(endpoint, platform, self._lists.entities, with_record_rule=False)
        self.fetchers = self._guards.fetchers
        self.problems = self._guards.problems

    @property
    def payloads(self) -> Mapping[str, Payload]:
        return self._lists.payloads

    def values(self, sent: Sent, exchange: Exchange) -> dict[str, ProcessValue]:
        """Return the records that were sent, by parameter of the process.

        Raises Problem, also 403 for a record outside a row rule.
        """
        items = self._lists.items(sent)
        records = results_of_all(*(partial(self._new_record, item, exchange) for item in items))
        children = [
            Child(item.list, item.at, record.values) for item, record in zip(items, records, strict=True)
        ]
        self._guards.check({}, exchange, children)
        by_parameter: dict[str, ProcessValue] = {}
        for name, group in self._lists.groups.items():
            records_of_input = tuple(
                record for item, record in zip(items, records, strict=True) if item.list == name
            )
            if sent.get(name) is not None:
                by_parameter[group.name] = records_of_input if group.several else records_of_input[0]
        return by_parameter

    def refusal(self, error: InvalidRecord, payload: Payload, sent: Sent) -> Exception:
        """Return the exception to raise for the platform's refusal of the inputs, with every problem at
        its place.
        """
        if error.entity != self._process:
            return error
        items = {self._place(item): item for item in self._lists.items(sent)}
        own_problems: list[InvalidValue] = []
        problems_by_place: dict[str, list[InvalidValue]] = {}
        for problem in error.problems:
            place_and_attribute = _place_and_attribute(problem.attribute, items)
            if place_and_attribute is None:
                own_problems.append(problem)
            else:
                place, attribute = place_and_attribute
                problems_by_place.setdefault(place, []).append(_with_attribute(problem, attribute))
        refusals = [payload.refusal(InvalidRecord(error.entity, own_problems))] if own_problems else []
        for place, item in items.items():
            if place in problems_by_place:
                entity = self._lists.entities[item.list]
                refusals.append(self._lists.refusal(item, InvalidRecord(entity, problems_by_place[place])))
        problems = [refusal for refusal in refusals if isinstance(refusal, Problem)]
        return merged_problem(problems) if problems else error

    def _new_record(self, item: Item, exchange: Exchange) -> NewRecord:
        """Return the record that an item asks for. Raises Problem for wrong inputs of the item."""
        return NewRecord(self._lists.entities[item.list], self._lists.values(item, exchange))

    def _place(self, item: Item) -> str:
        """Return the place of an item as the platform names it: the parameter, and the number in a list."""
        group = self._lists.groups[item.list]
        return group.name + item.at.removeprefix(f"/{item.list}")


def _place_and_attribute(attribute: str, places: Mapping[str, Item]) -> tuple[str, str] | None:
    """Split a platform's name of a wrong value, `OpportunityClose/subject`, into the place of a record and
    its attribute. Return None for a value that is in no record.
    """
    place, _, name = attribute.rpartition("/")
    return (place, name) if place in places else None


def _with_attribute(problem: InvalidValue, name: str) -> InvalidValue:
    """Change `problem` to have the attribute's name in its record, which the record's payload knows, and
    return it.
    """
    problem.attribute = name
    return problem
