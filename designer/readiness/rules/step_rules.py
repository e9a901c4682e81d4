"""Row rules and data fetchers: filters and queries that run before the operation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from crmclient.errors import InvalidQuery
from crmclient.query.designed import DesignedFilter
from crmclient.query.problems import QueryProblems
from crmclient.query.resolving import prepare, prepare_filter
from crmclient.query.resolving.prepared import Needs
from designer.calendar import calendar
from designer.queries import answered
from designer.readiness.registry import Found, blocking, warning
from designer.readiness.subjects import EndpointSubject
from designer.sentences import Sentence as _


@blocking("row-rule")
def row_rules_fit_the_entity(subject: EndpointSubject) -> Found:
    for place, entity, filter in _row_rules(subject):
        try:
            prepare_filter(filter, entity, subject.metadata.known_attributes, calendar())
        except QueryProblems as error:
            for problem in error.problems:
                yield (
                    _(
                        "The row rule: %(construct)s: %(message)s.",
                        construct=problem.construct,
                        message=problem.message,
                    ),
                    place,
                )


@blocking("row-rule-values")
def row_rules_know_their_values(subject: EndpointSubject) -> Found:
    inputs = {known.name: known for known in subject.inputs}
    for place, needs in needs_of_row_rules(subject):
        if place == "entity.row_rule":
            if needs.parameters or needs.fetched or needs.record:
                yield (
                    _("The entity's row rule serves all its endpoints: it knows @user and nothing else."),
                    place,
                )
        else:
            for name in sorted(needs.parameters):
                if name not in inputs or not inputs[name].required:
                    yield (
                        _(
                            "@%(name)s in the row rule must be a required input: left out, it "
                            "would widen it.",
                            name=name,
                        ),
                        place,
                    )
            yield from unknown_fetchers(subject, needs, list(rows_of_fetchers(subject)), place)
            if needs.record:
                yield _("The row rule cannot compare with @record: that is what it finds."), place
        yield from unknown_properties(subject, needs, place)


@warning("row-rule-anonymous")
def row_rules_know_their_callers(subject: EndpointSubject) -> Found:
    if subject.definition.access.authentication_required:
        return
    for place, needs in needs_of_row_rules(subject):
        if needs.user or needs.user_values:
            yield (
                _("The row rule compares with the caller, but anyone may call: nothing is found then."),
                place,
            )


@warning("row-rule-without-effect")
def row_rules_have_records(subject: EndpointSubject) -> Found:
    if subject.definition.row_rule is not None and not subject.endpoint.kind.has_rows:
        yield (
            _("The row rule has no effect: this kind of endpoint reaches no records that are there."),
            "row_rule",
        )


@blocking("fetcher-query")
def fetchers_have_queries(subject: EndpointSubject) -> Found:
    for fetcher in subject.definition.fetchers:
        place = f"fetchers.{fetcher.name}.query"
        if fetcher.query is None:
            yield _("Write the query of the data fetcher “%(name)s”.", name=fetcher.name), place
            continue
        try:
            prepare(fetcher.query, subject.metadata.known_attributes, calendar())
        except QueryProblems as error:
            for problem in error.problems:
                yield (
                    _(
                        "The data fetcher “%(name)s”: %(construct)s: %(message)s.",
                        name=fetcher.name,
                        construct=problem.construct,
                        message=problem.message,
                    ),
                    place,
                )
        if fetcher.query.page_size is not None or fetcher.query.total:
            yield (
                _("The data fetcher “%(name)s” finds one row: take count and total out.", name=fetcher.name),
                place,
            )


@blocking("fetcher-values")
def fetchers_know_their_values(subject: EndpointSubject) -> Found:
    rows: dict[str, frozenset[str]] = {}
    known = subject.metadata.attributes(subject.entity).keys() if subject.entity else frozenset()
    for fetcher in subject.definition.fetchers:
        place = f"fetchers.{fetcher.name}.query"
        needs = needs_of_fetcher(subject, fetcher.name)
        for name in sorted(needs.parameters - subject.input_names):
            yield (
                _(
                    "The data fetcher “%(name)s” takes @%(input)s, which is not defined.",
                    name=fetcher.name,
                    input=name,
                ),
                place,
            )
        if needs.record and not subject.endpoint.kind.is_on_record:
            yield (
                _(
                    "The data fetcher “%(name)s” takes @record, but there is no record in the path.",
                    name=fetcher.name,
                ),
                place,
            )
        elif unknown := sorted(needs.record - known):
            yield (
                _(
                    "The data fetcher “%(name)s” takes @record.%(unknown)s: %(entity)s has none.",
                    name=fetcher.name,
                    unknown=unknown[0],
                    entity=subject.entity,
                ),
                place,
            )
        yield from unknown_fetchers(subject, needs, list(rows.items()), place)
        yield from unknown_properties(subject, needs, place)
        rows[fetcher.name] = _keys(subject, fetcher.name)


def _row_rules(subject: EndpointSubject) -> Iterator[tuple[str, str, DesignedFilter]]:
    """Each row rule with its place and its entity."""
    definition = subject.definition
    if definition.settings.creates_outside_row_rule:
        return
    query = definition.settings.designed_query
    entity = query.entity if query is not None else subject.entity
    if definition.row_rule is not None and entity:
        yield "row_rule", entity, definition.row_rule
    exposed = subject.endpoint.entity
    if exposed is not None and exposed.row_rule is not None and subject.endpoint.kind.has_rows:
        yield "entity.row_rule", exposed.entity, exposed.row_rule


def needs_of_row_rules(subject: EndpointSubject) -> Iterator[tuple[str, Needs]]:
    for place, entity, filter in _row_rules(subject):
        try:
            yield place, prepare_filter(filter, entity, subject.metadata.known_attributes, calendar()).needs
        except InvalidQuery:
            continue


def needs_of_fetcher(subject: EndpointSubject, name: str) -> Needs:
    query = next(known.query for known in subject.definition.fetchers if known.name == name)
    try:
        return (
            Needs() if query is None else prepare(query, subject.metadata.known_attributes, calendar()).needs
        )
    except InvalidQuery:
        return Needs()


def rows_of_fetchers(subject: EndpointSubject) -> Iterator[tuple[str, frozenset[str]]]:
    return ((known.name, _keys(subject, known.name)) for known in subject.definition.fetchers)


def _keys(subject: EndpointSubject, name: str) -> frozenset[str]:
    query = next(known.query for known in subject.definition.fetchers if known.name == name)
    return frozenset() if query is None else frozenset(answered(query, subject.metadata.attributes))


def unknown_fetchers(
    subject: EndpointSubject, needs: Needs, rows: list[tuple[str, frozenset[str]]], place: str
) -> Found:
    known: Mapping[str, frozenset[str]] = dict(rows)
    for name, key in sorted(needs.fetched):
        if name not in known:
            yield (
                _(
                    "@fetch.%(name)s.%(key)s: there is no data fetcher “%(name)s” before it.",
                    name=name,
                    key=key,
                ),
                place,
            )
        elif key not in known[name]:
            columns = ", ".join(sorted(known[name])) or _("none")
            yield (
                _(
                    "@fetch.%(name)s.%(key)s: it has no such column; there are: %(columns)s.",
                    name=name,
                    key=key,
                    columns=columns,
                ),
                place,
            )


def unknown_properties(subject: EndpointSubject, needs: Needs, place: str) -> Found:
    for name in sorted(needs.user_values - subject.surroundings.user_properties.keys()):
        yield _("There is no user property “%(name)s”.", name=name), place
