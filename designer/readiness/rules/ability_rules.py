"""Findings about features that the platform does not have, at the field that needs the feature."""

from __future__ import annotations

from collections.abc import Iterator

from crmclient.conventions import Ability
from crmclient.query.ast import FISCAL_PARTS, Operator
from crmclient.query.designed import DesignedLink, DesignedQuery
from crmclient.query.resolving.prepared_queries import Needs
from designer.endpoint_facts.query_parameters import conditions
from designer.expressions import Expression, ExpressionError
from designer.expressions.members import ENDPOINT_NAMES
from designer.kinds.duplicates import DuplicateSettings
from designer.kinds.queries import PaginatedQuerySettings
from designer.kinds.versions import VersionSettings
from designer.names import RESERVED_PROPERTIES
from designer.readiness.registry import Found, blocking, blocking_for_user_properties, blocking_of
from designer.readiness.rules.expression_rules import expressions_of
from designer.readiness.rules.query_rules import QUERY, needs_of_query
from designer.readiness.rules.step_rules import Origin, needs_of_fetcher, needs_of_row_rules
from designer.readiness.subjects import EndpointSubject, UserPropertySubject
from designer.sentences import Sentence as _
from designer.types import holds_records


@blocking_of(VersionSettings, "platform-versions")
def records_have_versions(subject: EndpointSubject, settings: VersionSettings) -> Found:
    """Find a demand for If-Match on an entity whose records have no versions."""
    if not settings.require_if_match or not subject.entity:
        return
    attributes = subject.metadata.attributes(subject.entity)
    if attributes and subject.metadata.conventions.version_of(subject.entity, attributes) is None:
        yield (
            _(
                "The platform keeps no versions of %(entity)s, so callers cannot send If-Match. Do not "
                "require it.",
                entity=subject.entity,
            ),
            "settings.require_if_match",
        )


@blocking_of(DuplicateSettings, "platform-duplicates")
def duplicates_are_detected(subject: EndpointSubject, settings: DuplicateSettings) -> Found:
    """Find that duplicates are refused where the platform does not detect them."""
    if settings.refuse_duplicates and not _platform_can(subject, Ability.DUPLICATES):
        yield (
            _("The platform has no duplicate detection. Do not refuse duplicates."),
            "settings.refuse_duplicates",
        )


@blocking_of(PaginatedQuerySettings, "platform-pages")
def rows_have_pages(subject: EndpointSubject, settings: PaginatedQuerySettings) -> Found:
    """Find a query by page where the platform has no pages."""
    if not _platform_can(subject, Ability.PAGES):
        yield _("The platform cannot answer page by page. Make it a multi query."), "settings.page_size"


@blocking_of(PaginatedQuerySettings, "platform-totals")
def rows_are_counted(subject: EndpointSubject, settings: PaginatedQuerySettings) -> Found:
    """Find a total that the platform cannot count: that of the settings, and that of the FetchXML."""
    if _platform_can(subject, Ability.TOTALS):
        return
    if settings.total:
        yield _("The platform cannot count all rows. Do not ask for it."), "settings.total"
    if settings.query is not None and settings.query.total:
        yield _("The platform cannot count all rows. Take returntotalrecordcount out."), QUERY


@blocking("platform-queries")
def queries_can_be_run(subject: EndpointSubject) -> Found:
    """Find what the endpoint's own query and those of its data fetchers need and the platform lacks."""
    for place, query in _queries(subject):
        if any(query.every_link) and not _platform_can(subject, Ability.LINKS):
            yield _("The platform cannot link entities in a query. Take the links out."), place
        if query.is_aggregate and not _platform_can(subject, Ability.AGGREGATES):
            yield _("The platform cannot group or sum rows. Take the aggregates out."), place
        uses_periods = any(
            condition.operator is Operator.IN_FISCAL_PERIOD for _entity, condition in conditions(query)
        )
        if uses_periods and not _platform_can(subject, Ability.FISCAL_PERIODS):
            yield (
                _("The platform knows no fiscal periods. Use in-fiscal-period-and-year, or dates."),
                place,
            )
        if _groups_by_fiscal_parts(query) and not _platform_can(subject, Ability.FISCAL_GROUPS):
            yield (
                _(
                    "The platform does not say what the value of a fiscal group is. Group by month or "
                    "quarter, or filter by fiscal periods."
                ),
                place,
            )
        if query.distinct and not _platform_can(subject, Ability.DISTINCT):
            yield _("The platform cannot leave out equal rows. Take distinct out."), place


@blocking("platform-batches")
def lists_are_created_at_once(subject: EndpointSubject) -> Found:
    """Find inputs that hold records, where the platform cannot write several records all or none."""
    # An action hands its records to the process.
    writes_itself = subject.definition.settings.creates_records or subject.endpoint.kind.partial
    if _platform_can(subject, Ability.BATCHES) or not writes_itself:
        return
    for input_definition in subject.inputs:
        if holds_records(input_definition.type):
            yield (
                _(
                    "The platform cannot write several records at once, all or none. Remove the list "
                    "“%(name)s”.",
                    name=input_definition.name,
                ),
                f"inputs.{input_definition.name}.type",
            )


@blocking("platform-users", row_rules=True)
def callers_are_users(subject: EndpointSubject) -> Found:
    """Find every place that needs the caller's user, where the platform has no users."""
    if subject.metadata.conventions.users is not None:
        return
    for origin in dict.fromkeys(_origins_that_read_user(subject)):
        yield origin.finding(_("It needs the caller's user on the platform, but the platform has no users."))


@blocking_for_user_properties("user-property-users")
def there_are_users(subject: UserPropertySubject) -> Found:
    """Find a property of users where the platform has no users."""
    type = subject.caller_type
    if type is not None and type.is_of_users and subject.metadata.conventions.users is None:
        yield _("The platform has no users, so it has no user properties."), "kind"


@blocking_for_user_properties("user-property-links")
def related_data_can_be_read(subject: UserPropertySubject) -> Found:
    """Find a user property of related data that needs a link in a query, where the platform has no links."""
    metadata, definition = subject.metadata, subject.definition
    if definition.kind != "related" or Ability.LINKS in metadata.conventions.abilities:
        return
    relationships = (
        {relationship.name: relationship for relationship in metadata.relationships(subject.entity)}
        if subject.entity
        else {}
    )
    relationship = relationships.get(definition.relationship)
    # Records that refer to the user are read by a query of their own, without a link.
    if relationship is not None and (
        relationship.intersect is not None or relationship.referencing == subject.entity
    ):
        yield (
            _(
                "The platform cannot link entities in a query, which “%(relationship)s” needs. Choose "
                "another relationship.",
                relationship=definition.relationship,
            ),
            "relationship",
        )


def _platform_can(subject: EndpointSubject, ability: Ability) -> bool:
    return ability in subject.metadata.conventions.abilities


def _queries(subject: EndpointSubject) -> Iterator[tuple[str, DesignedQuery]]:
    """Yield the endpoint's own query and those of its data fetchers, each after its place."""
    designed_query = subject.definition.settings.designed_query
    if designed_query is not None:
        yield QUERY, designed_query
    for fetcher in subject.definition.fetchers:
        if fetcher.query is not None:
            yield f"fetchers.{fetcher.name}.query", fetcher.query


def _groups_by_fiscal_parts(source: DesignedQuery | DesignedLink) -> bool:
    """Whether a query or link, or a link in it, groups rows by a fiscal year or period."""
    return any(column.date_grouping in FISCAL_PARTS for column in source.columns) or any(
        map(_groups_by_fiscal_parts, source.links)
    )


def _origins_that_read_user(subject: EndpointSubject) -> Iterator[Origin]:
    """Yield what of the endpoint needs the caller's user: queries, rules, bindings, expressions."""
    needs_by_origin = [*needs_of_row_rules(subject), (Origin(QUERY), needs_of_query(subject))]
    needs_by_origin += [
        (Origin(f"fetchers.{fetcher.name}.query"), needs_of_fetcher(subject, fetcher.name))
        for fetcher in subject.definition.fetchers
    ]
    yield from (origin for origin, needs in needs_by_origin if _asks_for_user(needs))
    yield from map(Origin, _places_that_read_user(subject))


def _places_that_read_user(subject: EndpointSubject) -> Iterator[str]:
    """Yield the places of bindings and expressions that need the caller's user."""
    yield from (
        f"bindings.{binding.attribute}.value" for binding in subject.bindings if binding.source == "user"
    )
    for parent in subject.inputs:
        for binding in parent.bindings:
            if binding.source == "user":
                yield f"inputs.{parent.name}.bindings.{binding.attribute}.value"
    yield from (expression.field for expression in expressions_of(subject) if _reads_user(expression.text))


def _asks_for_user(needs: Needs) -> bool:
    """Whether the caller has to be a user, or have user properties. The type and the roles are known of every
    caller.
    """
    return needs.user or bool(needs.user_values - RESERVED_PROPERTIES)


def _reads_user(text: str) -> bool:
    """Whether the expression `text` reads the caller; False for an expression with a mistake, which another
    rule finds.
    """
    try:
        return "user" in Expression(text, ENDPOINT_NAMES).references
    except ExpressionError:
        return False
