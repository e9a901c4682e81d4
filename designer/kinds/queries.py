"""Queries: rows of the platform, found by what a consultant has designed."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, ClassVar, NamedTuple

from django.utils.translation import gettext_noop as _
from pydantic import Field

from crmclient.query.designed import DesignedQuery
from crmclient.query.other_attributes import AttributeChange, ChangedKeys, changed_query
from designer.definition import Definition
from designer.kinds.operation_kind import LABELS, STEPS, OperationKind, Place, Scope, Section
from designer.kinds.settings import CachedSettings, EndpointSettings
from designer.kinds.vocabulary import MetadataSource, Vocabulary
from designer.queries.answered_columns import answered_attributes
from designer.queries.stored_queries import QueryValue
from designer.sentences import Sentence

LARGEST_RESULT = 5_000


class OfferedOrder(Definition):
    """An order that callers may choose, by `name`. `by` are keys of the query's row; `-key`: descending."""

    name: str = Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,62}$")
    by: tuple[str, ...] = Field(min_length=1)

    def with_keys(self, keys: ChangedKeys) -> OfferedOrder | None:
        """Return the order after keys of the query's row have changed; None when nothing is left to sort by.

        `keys` are the new keys by the old ones. A key whose new key is None is gone.
        """
        new_keys = []
        for key in self.by:
            name = key.removeprefix("-")
            new_name = keys.get(name, name)
            if new_name is not None:
                new_keys.append(f"-{new_name}" if key.startswith("-") else new_name)
        return self.model_copy(update={"by": tuple(new_keys)}) if new_keys else None


class PageSizes(NamedTuple):
    """The number of rows in a page: `usual` when callers do not say, and `largest`."""

    usual: int
    largest: int


class QuerySettings(CachedSettings):
    """`query` is what is asked; inputs of the endpoint are its parameters, columns name what it answers.

    The row rules of linked entities count only with `linked_row_rules`; the root entity's always does.
    """

    asks_query: ClassVar[bool] = True

    query: QueryValue = Field(
        None, title=_("Query"), description=_("FetchXML, as Advanced Find exports it. @name is a parameter.")
    )
    labels: Annotated[bool, LABELS] = Field(
        False,
        title=_("Labels of choices"),
        description=_("Return the label of each choice beside its value, in the caller's language."),
    )
    linked_row_rules: bool = Field(
        False,
        title=_("Row rules of linked entities"),
        description=_(
            "Apply the row rules of linked entities, too. The row rule of the query's own "
            "entity always applies."
        ),
    )

    @property
    def designed_query(self) -> DesignedQuery | None:
        return self.query

    def with_attribute(self, entity: str, change: AttributeChange) -> tuple[EndpointSettings, ChangedKeys]:
        """Return the settings with the query after the change of an attribute, and the keys of its rows that
        change with it.
        """
        # The query and its rows change, whatever `entity` is: a query names its entities itself.
        if self.query is None:
            return self, {}
        changed = changed_query(self.query, change)
        return self.model_copy(update={"query": changed.query}), changed.keys

    @property
    def pages(self) -> PageSizes | None:
        """Return the page sizes; None when an answer has all rows."""
        return None

    @property
    def has_pages(self) -> bool:
        return self.pages is not None

    @property
    def applies_linked_row_rules(self) -> bool:
        return self.linked_row_rules

    @property
    def has_labels(self) -> bool:
        return self.labels

    def vocabulary(self, entity: str, metadata: MetadataSource) -> Vocabulary | None:
        """Return the columns of the query, which columns may answer; bindings may set nothing. None without a
        query, and for one of an unknown entity.
        """
        if self.query is None or not metadata.attributes(self.query.entity):
            return None
        return Vocabulary(Sentence("The query"), {}, answered_attributes(self.query, metadata.attributes))


class SortedQuerySettings(QuerySettings):
    """`orders` may be chosen from by the parameter `order`; the query's own order is the default."""

    lists_records: ClassVar[bool] = True

    orders: tuple[OfferedOrder, ...] = Field(
        (),
        title=_("Orders"),
        description=_(
            "The orders that callers may choose with ?order=name, or with ?order=-name for the reverse."
        ),
    )

    def with_attribute(self, entity: str, change: AttributeChange) -> tuple[EndpointSettings, ChangedKeys]:
        """Return the settings with the query and the orders after the change of an attribute, and the keys of
        rows that change with it. An order that would sort by nothing is removed.
        """
        settings, keys = super().with_attribute(entity, change)
        # `keys` are the changed keys of the query's rows, which orders name, too.
        if not keys:
            return settings, keys
        orders = [offered for order in self.orders if (offered := order.with_keys(keys)) is not None]
        return settings.model_copy(update={"orders": tuple(orders)}), keys


class MultiQuerySettings(SortedQuerySettings):
    cap: int = Field(
        1_000,
        ge=1,
        le=LARGEST_RESULT,
        title=_("Most rows"),
        description=_(
            "How many rows a call may return, at most 5000. A call that finds more rows is "
            "refused: its answer is never cut short."
        ),
    )

    def first_rows(self, most: int) -> MultiQuerySettings:
        """Return the settings for an answer of at most `most` rows, where more rows would be refused."""
        # Groups are made of all rows: with fewer rows, their values would be wrong.
        if self.query is None or self.query.is_aggregate:
            return self
        cut = replace(self.query, top=min(self.query.top or most, most))
        # A cap below `most` would refuse the answer.
        return self.model_copy(update={"query": cut, "cap": max(self.cap, most)})


class PaginatedQuerySettings(SortedQuerySettings):
    page_size: int = Field(
        50,
        ge=1,
        le=LARGEST_RESULT,
        title=_("Page size"),
        description=_("How many rows a page has if the caller does not say."),
    )
    max_page_size: int = Field(
        500,
        ge=1,
        le=LARGEST_RESULT,
        title=_("Largest page"),
        description=_("How many rows a caller may ask for on one page, at most."),
    )
    total: bool = Field(
        False,
        title=_("Count all rows"),
        description=_("Also return how many rows there are in total. Counting takes time."),
    )

    @property
    def pages(self) -> PageSizes | None:
        """Return the page sizes."""
        return PageSizes(self.page_size, self.max_page_size)


_PATH = "/api/{module}/queries/{name}"
_SECTIONS = frozenset({Section.INPUTS, Section.COLUMNS}) | STEPS

SINGLE_QUERY = OperationKind(
    name="single-query",
    label=_("Single query"),
    summary=_("Returns the one row that a query finds."),
    scope=Scope.MODULE,
    methods=("GET",),
    path=_PATH,
    settings=QuerySettings,
    sections=_SECTIONS,
    place=Place.QUERIES,
)

MULTI_QUERY = OperationKind(
    name="multi-query",
    label=_("Multi query"),
    summary=_("Returns all rows that a query finds, up to a limit."),
    scope=Scope.MODULE,
    methods=("GET",),
    path=_PATH,
    settings=MultiQuerySettings,
    sections=_SECTIONS,
    place=Place.QUERIES,
)

PAGINATED_QUERY = OperationKind(
    name="paginated-query",
    label=_("Paginated query"),
    summary=_("Returns the rows that a query finds, page by page."),
    scope=Scope.MODULE,
    methods=("GET",),
    path=_PATH,
    settings=PaginatedQuerySettings,
    sections=_SECTIONS,
    place=Place.QUERIES,
)
