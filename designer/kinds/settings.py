"""What only one kind of operation needs of an endpoint, and what others ask of any kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar

from crmclient.query.designed import DesignedQuery
from crmclient.query.other_attributes import AttributeChange, ChangedKeys
from designer.definition import Definition
from designer.kinds.answer_cache import AnswerCache, cache_told
from designer.kinds.call_limits import CallLimits, limits_told
from designer.kinds.effects import ToldBy
from designer.kinds.record_groups import RecordGroup
from designer.kinds.vocabulary import MetadataSource, Vocabulary


class EndpointSettings(Definition):
    """What only one kind of operation needs. Each kind declares its own subclass. Every kind has `limits`.

    The members below are what others ask of any kind. A kind overrides those that its endpoints answer
    differently, so that nobody has to know which kind an endpoint is of.
    """

    # Whether endpoints of the kind ask a query of their own, designed or not yet.
    asks_query: ClassVar[bool] = False
    # Whether endpoints of the kind make records of the exposed entity.
    creates_records: ClassVar[bool] = False
    # Whether endpoints of the kind reach records of the exposed entity that neither the path nor a designed
    # query says, such as all that a count counts. The operation applies `runtime.steps.rule_of_query`.
    reaches_records: ClassVar[bool] = False
    # Whether an answer lists the records of that query, with paths or pages of them to be found.
    lists_records: ClassVar[bool] = False
    # Whether answers hold what is in records, which not everybody may see.
    answers_records: ClassVar[bool] = True

    limits: Annotated[CallLimits, ToldBy(limits_told)] = CallLimits()

    def methods(self, of_kind: tuple[str, ...]) -> tuple[str, ...]:
        """Return the HTTP methods that the endpoint takes, among those of its kind."""
        return of_kind

    @property
    def item(self) -> str:
        """The name of the path parameter that names one item of the answered list; empty where items have no
        paths.
        """
        return ""

    @property
    def platform_name(self) -> str:
        """The name on the platform of the process or option set that is served; empty where it is neither."""
        return ""

    @property
    def process_name(self) -> str:
        """The name of the process that calls run; empty where they run none, or it is not chosen."""
        return ""

    @property
    def own_attributes(self) -> tuple[str, ...]:
        """The attributes of the exposed entity that the settings name, outside the endpoint's query."""
        return ()

    def with_attribute(self, entity: str, change: AttributeChange) -> tuple[EndpointSettings, ChangedKeys]:
        """Return the settings after a change of an attribute, and the keys of the query's rows that change
        with it. A kind that names `own_attributes` replaces them here.

        `entity` is the exposed entity of the endpoint.
        """
        return self, {}

    @property
    def set_without_binding(self) -> frozenset[str]:
        """The attributes of the written record that calls set although no binding does, such as those whose
        values are copied from another record.
        """
        return frozenset()

    @property
    def related_segment(self) -> str:
        """The segment of another exposed entity of the module whose records calls reach, too; empty without
        one.
        """
        return ""

    @property
    def key_name(self) -> str:
        """The name of the alternate key whose value is in the path; empty without a key."""
        return ""

    @property
    def designed_query(self) -> DesignedQuery | None:
        """The endpoint's own query; None when its kind has none, or while it is not designed."""
        return None

    @property
    def has_pages(self) -> bool:
        """Whether callers choose a page of what the endpoint's own query finds."""
        return False

    @property
    def creates_outside_row_rule(self) -> bool:
        """Whether calls may make records that the row rule keeps from their callers."""
        return False

    @property
    def applies_linked_row_rules(self) -> bool:
        """Whether the row rules of entities that the endpoint's own query links to apply, too."""
        return False

    @property
    def has_labels(self) -> bool:
        """Whether answers hold the label of an option beside its value."""
        return False

    @property
    def reads_notes(self) -> bool:
        """Whether answers are read from the notes about the path's record, too."""
        return False

    @property
    def writes_notes(self) -> bool:
        """Whether calls write notes about the path's record, and not the record itself."""
        return False

    def tied_entities(self, entity: str, metadata: MetadataSource) -> tuple[str, ...]:
        """Return both entities whose records calls tie by a many-to-many relationship; none without one.

        `entity` is the endpoint's exposed entity.
        """
        return ()

    @property
    def changed_entities(self) -> tuple[str, ...]:
        """The entities that a process may change besides the record in the path; empty: any entity."""
        return ()

    @property
    def answer_cache(self) -> AnswerCache | None:
        """How answers are kept and shared; None where they are not, or cannot be.

        Answers can be kept when they follow from the path and query string of the request, from what the
        definition reads of the caller, and from records of the exposed entity, the endpoint's query and its
        data fetchers.
        """
        return None

    def vocabulary(self, entity: str, metadata: MetadataSource) -> Vocabulary | None:
        """Return what bindings may set and columns may answer, for an endpoint of the exposed `entity`.

        None while what it would come from is not chosen, or not known to the platform.
        """
        attributes = metadata.attributes(entity) if entity else {}
        return Vocabulary(entity, attributes, attributes) if attributes else None

    def record_groups(self, entity: str, metadata: MetadataSource) -> Mapping[str, RecordGroup]:
        """Return the groups of records that inputs may hold, by name.

        `entity` is the endpoint's exposed entity.
        """
        return {}

    def first_rows(self, most: int) -> EndpointSettings:
        """Return the settings for an answer of at most `most` rows, where more rows would be refused.

        Other kinds answer as many rows as before.
        """
        return self


class CachedSettings(EndpointSettings):
    """Settings of a kind whose answers can be kept and shared. `cache` says for how long they are."""

    cache: Annotated[AnswerCache, ToldBy(cache_told)] = AnswerCache()

    @property
    def answer_cache(self) -> AnswerCache | None:
        """How answers are kept and shared; None while they are not."""
        return self.cache if self.cache.is_on else None
