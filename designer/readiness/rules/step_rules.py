"""Row rules and data fetchers: filters and queries that run before the operation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from crmclient.errors import InvalidQuery
from crmclient.query.designed import DesignedFilter
from crmclient.query.problems import QueryProblems
from crmclient.query.resolving import prepare, prepare_filter
from crmclient.query.resolving.prepared_queries import Needs
from designer.calendar import calendar
from designer.definitions import ExposedEntityDefinition
from designer.endpoint_facts.reached_entities import reach
from designer.expressions.nearest import did_you_mean
from designer.names import OWN_RECORD, RESERVED_PROPERTIES
from designer.queries.answered_columns import answered_attributes, unknown_keys
from designer.readiness.registry import Found, blocking, warning
from designer.readiness.subjects import EndpointSubject
from designer.sentences import Sentence as _
from designer.token_issuers.claim_paths import WrongPath, path_parts

ENTITY_RULE = "entity.row_rule"


class Origin(NamedTuple):
    """Where something is read: at `place`, a field of the endpoint or of its exposed entity.

    `rule` is the row rule of another exposed entity, in words, which applies to the query at `place`; empty
    for what stands at the place itself.
    """

    place: str
    rule: str = ""

    def finding(self, sentence: _) -> tuple[str, str]:
        """Return what a rule yields for a sentence about what is read here. It names the row rule, if any."""
        if not self.rule:
            return sentence, self.place
        return _("%(rule)s: %(finding)s", rule=self.rule, finding=sentence), self.place


@dataclass(frozen=True, slots=True)
class PlacedRule:
    """The filter of a row rule, with its place.

    `roles` are those of its entry; None for the endpoint's own row rule. `exposed` is the key of the entity
    that has the row rule, unless that is the endpoint's own entity.
    """

    place: str
    entity: str
    filter: DesignedFilter
    roles: tuple[str, ...] | None = None
    exposed: str = ""

    @property
    def origin(self) -> Origin:
        """Where the filter applies."""
        return Origin(self.place, self.named if self.exposed else "")

    @property
    def named(self) -> _:
        """The row rule in words, at the beginning of a sentence."""
        roles = ", ".join(self.roles or ())
        if self.exposed and roles:
            return _("The row rule of %(entity)s for %(roles)s", entity=self.exposed, roles=roles)
        if self.exposed:
            return _("The row rule of %(entity)s", entity=self.exposed)
        if self.roles is None:
            return _("The row rule")
        return _("The entity's row rule for %(roles)s", roles=roles) if roles else _("The entity's row rule")

    def problems(self, subject: EndpointSubject) -> QueryProblems | None:
        """Return why the filter does not fit its entity; None where it does."""
        prepared = self._prepared(subject)
        return prepared if isinstance(prepared, QueryProblems) else None

    def needs(self, subject: EndpointSubject) -> Needs:
        """Return what the filter needs of a request; nothing where the filter is wrong."""
        prepared = self._prepared(subject)
        return prepared if isinstance(prepared, Needs) else Needs()

    def _prepared(self, subject: EndpointSubject) -> Needs | InvalidQuery:
        """Return what the filter needs, or why it is wrong.

        Each filter is prepared once for all endpoints.
        """
        prepared = subject.surroundings.prepared_row_rules
        # The filter is kept in the value, so that no other object gets the same `id`.
        key = id(self.filter), self.entity
        if key not in prepared:
            prepared[key] = self.filter, self._prepare(subject)
        return prepared[key][1]

    def _prepare(self, subject: EndpointSubject) -> Needs | InvalidQuery:
        """Return what the filter needs, or the error that says why it is wrong."""
        try:
            attributes = subject.metadata.known_attributes
            return prepare_filter(self.filter, self.entity, attributes, calendar()).needs
        except InvalidQuery as error:
            return error


@blocking("row-rule", row_rules=True)
def row_rules_fit_the_entity(subject: EndpointSubject) -> Found:
    """Find parts of row rules that do not fit the attributes of their entity."""
    for rule in applied_rules(subject):
        if rule.entity == subject.entity and subject.lacks_entity:
            # `entity-unknown` says so once.
            continue
        misfit = rule.problems(subject)
        for problem in misfit.problems if misfit else ():
            yield (
                _(
                    "%(rule)s: %(construct)s: %(message)s.",
                    rule=rule.named,
                    construct=problem.construct,
                    message=problem.message,
                ),
                rule.place,
            )


@blocking("row-rule-values", row_rules=True)
def row_rules_know_their_values(subject: EndpointSubject) -> Found:
    """Find values in row rules that are not known when the rule is applied."""
    inputs = {input_definition.name: input_definition for input_definition in subject.inputs}
    for rule in applied_rules(subject):
        place, needs = rule.place, rule.needs(subject)
        if rule.roles is not None:
            if needs.parameters or needs.fetched or needs.record:
                yield (
                    _(
                        "The entity's row rule is for all endpoints of the entity, so it can "
                        "use only @user values."
                    ),
                    place,
                )
        else:
            for name in sorted(needs.parameters):
                if name not in inputs:
                    yield (
                        _(
                            "The row rule uses @%(name)s, but the endpoint has no input of that name. "
                            "Add it, and make it required.%(hint)s",
                            name=name,
                            hint=did_you_mean(name, subject.input_names),
                        ),
                        f"{place}.{name}",
                    )
                elif not inputs[name].required:
                    yield (
                        _(
                            "The row rule uses @%(name)s, so this input must be required: a call "
                            "without it would reach more records.",
                            name=name,
                        ),
                        f"{place}.{name}",
                    )
            yield from unknown_fetchers(needs, dict(rows_of_fetchers(subject)), place)
            if needs.record:
                yield (
                    _(
                        "The row rule cannot compare with @record, because the row rule "
                        "decides which record is found."
                    ),
                    place,
                )
        for sentence, _place in unknown_properties(subject, needs, place):
            # Of an entity's rule, the sentence says where the property is named: not on the endpoint's page.
            yield (_named_finding(rule, sentence) if rule.roles is not None else sentence), place


def _named_finding(rule: PlacedRule, sentence: str) -> _:
    """Return a sentence about a row rule that says which row rule it is about."""
    return _("%(rule)s: %(finding)s", rule=rule.named, finding=sentence)


@warning("row-rule-anonymous", row_rules=True)
def row_rules_know_their_callers(subject: EndpointSubject) -> Found:
    """Find conditions on the caller where callers need no token, in entries that are for everyone."""
    if subject.definition.access.authentication_required:
        return
    for rule in applied_rules(subject):
        needs = rule.needs(subject)
        if rule.roles or not needs.of_caller:
            continue
        sentence = (
            _(
                "%(rule)s compares with the caller, but anyone may call: callers without a token find no "
                "records of %(entity)s by it.",
                rule=rule.named,
                entity=rule.entity,
            )
            if rule.exposed
            else _(
                "The row rule compares with the caller, but anyone may call: callers "
                "without a token find nothing."
            )
        )
        yield sentence, rule.place


@warning("row-rule-reaches-nothing", row_rules=True)
def callers_reach_something(subject: EndpointSubject) -> Found:
    """Find callers who reach no records, because no entry of the row rule is for them."""
    exposed = subject.endpoint.entity
    if exposed is not None and _heeds_entity_rule(subject):
        if _forgets_callers_without_token(subject, exposed):
            yield (
                _(
                    "Anyone may call, but the row rule of %(entity)s has no entry for everyone: callers "
                    "without a token reach no records.",
                    entity=exposed.entity,
                ),
                ENTITY_RULE,
            )
        for role in _forgotten_roles(subject, exposed):
            yield (
                _(
                    "Callers with the role “%(role)s” alone reach no records: the row rule of %(entity)s has "
                    "no entry for “%(role)s”.",
                    role=role,
                    entity=exposed.entity,
                ),
                ENTITY_RULE,
            )
    for place, exposed in _exposures_of_queries(subject):
        if _forgets_callers_without_token(subject, exposed):
            yield (
                _(
                    "Anyone may call, but the row rule of %(exposed)s has no entry for everyone: callers "
                    "without a token find no records of %(entity)s by the query.",
                    exposed=exposed.key,
                    entity=exposed.entity,
                ),
                place,
            )
        for role in _forgotten_roles(subject, exposed):
            yield (
                _(
                    "Callers with the role “%(role)s” alone find no records of %(entity)s by the query: the "
                    "row rule of %(exposed)s has no entry for “%(role)s”.",
                    role=role,
                    exposed=exposed.key,
                    entity=exposed.entity,
                ),
                place,
            )


def _forgets_callers_without_token(subject: EndpointSubject, exposed: ExposedEntityDefinition) -> bool:
    """Whether callers need no token, and no entry of the row rule is for those without one."""
    return not subject.definition.access.authentication_required and _is_for_roles_alone(exposed)


def _forgotten_roles(subject: EndpointSubject, exposed: ExposedEntityDefinition) -> Iterator[str]:
    """Yield the roles that may call the endpoint, and that no entry of the row rule is for."""
    if _is_for_roles_alone(exposed):
        for role in subject.definition.access.roles:
            if not any(entry.is_for((role,)) for entry in exposed.row_rule):
                yield role


def _is_for_roles_alone(exposed: ExposedEntityDefinition) -> bool:
    """Whether there is a row rule, each entry of which is for certain roles."""
    return bool(exposed.row_rule) and all(entry.roles for entry in exposed.row_rule)


@warning("row-rule-without-effect")
def row_rules_have_records(subject: EndpointSubject) -> Found:
    """Find row rules of endpoints that reach no existing records."""
    if subject.definition.row_rule is not None and not subject.endpoint.kind.has_rows:
        yield (
            _("The row rule has no effect: this kind of endpoint reaches no records that are there."),
            "row_rule",
        )


@blocking("fetcher-query")
def fetchers_have_queries(subject: EndpointSubject) -> Found:
    """Find data fetchers without a query, or with one that the platform cannot run."""
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
    """Find values in the queries of data fetchers that nothing gives. A fetcher sees only those before it."""
    earlier_columns: dict[str, frozenset[str]] = {}
    attribute_names = subject.metadata.attributes(subject.entity).keys() if subject.entity else frozenset()
    for fetcher in subject.definition.fetchers:
        place = f"fetchers.{fetcher.name}.query"
        needs = needs_of_fetcher(subject, fetcher.name)
        for name in sorted(needs.parameters - subject.input_names):
            yield (
                _(
                    "The data fetcher “%(name)s” uses @%(input)s, but the endpoint has no input of that "
                    "name. Add it to the inputs.%(hint)s",
                    name=fetcher.name,
                    input=name,
                    hint=did_you_mean(name, subject.input_names),
                ),
                f"{place}.{name}",
            )
        if needs.record and not subject.endpoint.kind.is_on_record:
            yield (
                _(
                    "The data fetcher “%(name)s” takes @record, but there is no record in the path.",
                    name=fetcher.name,
                ),
                place,
            )
        elif not subject.lacks_entity and (unknown := sorted(needs.record - attribute_names)):
            yield (
                _(
                    "The data fetcher “%(name)s” takes @record.%(unknown)s: %(entity)s has none.",
                    name=fetcher.name,
                    unknown=unknown[0],
                    entity=subject.entity,
                ),
                place,
            )
        yield from unknown_fetchers(needs, earlier_columns, place)
        yield from unknown_properties(subject, needs, place)
        earlier_columns[fetcher.name] = _columns_found_by(subject, fetcher.name)


def row_rules(subject: EndpointSubject) -> Iterator[PlacedRule]:
    """Yield the filter of the endpoint's own row rule, and that of each entry of its exposed entity's; none
    where the endpoint may create outside them.
    """
    definition = subject.definition
    query = definition.settings.designed_query
    entity = query.entity if query is not None else subject.entity
    if definition.row_rule is not None and entity and not definition.settings.creates_outside_row_rule:
        yield PlacedRule("row_rule", entity, definition.row_rule)
    exposed = subject.endpoint.entity
    if exposed is None or not _heeds_entity_rule(subject):
        return
    for position, entry in enumerate(exposed.row_rule):
        if entry.filter is not None:
            yield PlacedRule(f"{ENTITY_RULE}.{position}", exposed.entity, entry.filter, entry.roles)


def applied_rules(subject: EndpointSubject) -> Iterator[PlacedRule]:
    """Yield those of `row_rules`, and the entries of other entities of the module whose row rules queries
    apply.
    """
    yield from row_rules(subject)
    for place, exposed in _exposures_of_queries(subject):
        for entry in exposed.row_rule:
            if entry.filter is not None:
                yield PlacedRule(
                    place=place,
                    entity=exposed.entity,
                    filter=entry.filter,
                    roles=entry.roles,
                    exposed=exposed.key,
                )


def _exposures_of_queries(subject: EndpointSubject) -> Iterator[tuple[str, ExposedEntityDefinition]]:
    """Yield the exposed entities of the module whose row rules apply to queries, each after the place of the
    first such query. The endpoint's own counts only where its row rule does not apply anyway.
    """
    places: dict[str, str] = {}
    for reached in reach(subject.endpoint):
        if reached.is_ruled:
            places.setdefault(reached.entity, reached.place)
    own_entity = subject.endpoint.entity if _heeds_entity_rule(subject) else None
    for exposed in subject.endpoint.exposures:
        if exposed.entity in places and exposed != own_entity:
            yield places[exposed.entity], exposed


def _heeds_entity_rule(subject: EndpointSubject) -> bool:
    """Whether the row rule of the exposed entity applies to the endpoint."""
    return subject.endpoint.kind.has_rows and not subject.definition.settings.creates_outside_row_rule


def needs_of_row_rules(subject: EndpointSubject) -> Iterator[tuple[Origin, Needs]]:
    """Yield where each row rule applies, and what its filter needs."""
    return ((rule.origin, rule.needs(subject)) for rule in applied_rules(subject))


def needs_of_fetcher(subject: EndpointSubject, name: str) -> Needs:
    """Return what the query of a data fetcher needs; nothing where it has no query, or a wrong one."""
    query = next(fetcher.query for fetcher in subject.definition.fetchers if fetcher.name == name)
    try:
        return (
            Needs() if query is None else prepare(query, subject.metadata.known_attributes, calendar()).needs
        )
    except InvalidQuery:
        return Needs()


def rows_of_fetchers(subject: EndpointSubject) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield the name of each data fetcher, and the keys of the row that it finds."""
    return (
        (fetcher.name, _columns_found_by(subject, fetcher.name)) for fetcher in subject.definition.fetchers
    )


def _columns_found_by(subject: EndpointSubject, name: str) -> frozenset[str]:
    """Return the keys of the row that the data fetcher `name` finds, also of columns that `fetcher-query`
    finds wrong; none where it has no query.
    """
    query = next(fetcher.query for fetcher in subject.definition.fetchers if fetcher.name == name)
    if query is None:
        return frozenset()
    attributes = subject.metadata.attributes
    return unknown_keys(query, attributes) | answered_attributes(query, attributes).keys()


def unknown_fetchers(needs: Needs, columns_by_fetcher: Mapping[str, frozenset[str]], place: str) -> Found:
    """Find columns of data fetchers that `needs` names and that no earlier fetcher, by its name, gives."""
    for name, key in sorted(needs.fetched):
        if name not in columns_by_fetcher:
            yield (
                _(
                    "@fetch.%(name)s.%(key)s: there is no data fetcher “%(name)s” before it.",
                    name=name,
                    key=key,
                ),
                place,
            )
        elif key not in columns_by_fetcher[name]:
            columns = ", ".join(sorted(columns_by_fetcher[name])) or _("none")
            yield (
                _(
                    "@fetch.%(name)s.%(key)s: the data fetcher has no such column. It has: %(columns)s.",
                    name=name,
                    key=key,
                    columns=columns,
                ),
                place,
            )


def unknown_properties(subject: EndpointSubject, needs: Needs, place: str) -> Found:
    """Find user properties that `needs` names and that do not exist, and wrong paths of claims."""
    property_names = subject.surroundings.user_properties.keys() | RESERVED_PROPERTIES | {OWN_RECORD}
    for name in sorted(needs.user_values - property_names):
        yield _("There is no user property “%(name)s”. Add it, or choose another.", name=name), place
    for path in sorted(needs.claims):
        try:
            path_parts(path)
        except WrongPath as error:
            yield str(error), place
