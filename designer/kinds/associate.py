"""Associate: ties a record to another one by a many-to-many relationship, and unties the two again."""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType
from typing import Annotated, Any, Literal, Protocol, TypeVar

from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _
from pydantic import Field

from crmclient.metadata import Relationship
from designer.kinds.effects import Effect, Told, ToldBy
from designer.kinds.operation_kind import STEPS, Meaning, OperationKind, Scope
from designer.kinds.pickers import MANY_TO_MANY, RELATED_ENTITY
from designer.kinds.settings import EndpointSettings
from designer.kinds.vocabulary import MetadataSource

ASSOCIATE_METHOD, DISASSOCIATE_METHOD = "PUT", "DELETE"

_CALLS = MappingProxyType(
    {
        "both": _("Associate (PUT) and disassociate (DELETE)"),
        "associate": _("Associate only (PUT)"),
        "disassociate": _("Disassociate only (DELETE)"),
    }
)
_METHODS = MappingProxyType({"associate": ASSOCIATE_METHOD, "disassociate": DISASSOCIATE_METHOD})


def _calls_told(old: Any, new: Any) -> tuple[str, Effect]:
    """Return a sentence about the calls before and after a change, and what it means to callers.

    None stands for the default, `both`.
    """
    before, after = old or "both", new or "both"
    words = {
        "both": gettext("associate and disassociate"),
        "associate": gettext("associate only"),
        "disassociate": gettext("disassociate only"),
    }
    text = gettext("calls: %(before)s → %(after)s") % {
        "before": words.get(before, before),
        "after": words.get(after, after),
    }
    return text, Effect.ADDITIVE if after == "both" else Effect.BREAKING


class _WithSegment(Protocol):
    """The part of an exposed entity that the setting needs."""

    @property
    def segment(self) -> str: ...


Exposed = TypeVar("Exposed", bound=_WithSegment)


class AssociateSettings(EndpointSettings):
    """`relationship` is the many-to-many relationship's name. `related` is the segment of the exposed entity,
    in the endpoint's module, whose row rule the related record must meet.
    """

    relationship: Annotated[str, MANY_TO_MANY, Told(_("relationship"), Effect.BREAKING)] = Field(
        "", title=_("Relationship"), description=_("A many-to-many relationship of the entity.")
    )
    # The row rule of another entity may let callers reach other records.
    related: Annotated[str, RELATED_ENTITY, Told(_("related entity"), Effect.BEHAVIOUR)] = Field(
        "",
        title=_("Related entity"),
        description=_(
            "The exposed entity of the related records. Callers reach the records that its row "
            "rule allows. For any other record, they get 404."
        ),
    )
    calls: Annotated[Literal["both", "associate", "disassociate"], _CALLS, ToldBy(_calls_told)] = Field(
        "both", title=_("Calls"), description=_("What callers may do.")
    )

    def methods(self, of_kind: tuple[str, ...]) -> tuple[str, ...]:
        """Return those methods of the kind that `calls` lets callers use."""
        # `both` is not among the keys.
        only = _METHODS.get(self.calls)
        return of_kind if only is None else (only,)

    @property
    def related_segment(self) -> str:
        """The segment of the exposed entity of the related records; empty while none is chosen."""
        return self.related

    def relationship_among(self, relationships: Iterable[Relationship]) -> Relationship | None:
        """Return the relationship that `relationship` names; None when it is not among `relationships`."""
        return next(
            (relationship for relationship in relationships if relationship.name == self.relationship), None
        )

    def tied_entities(self, entity: str, metadata: MetadataSource) -> tuple[str, ...]:
        """Return the entities at both ends of the relationship; none while it is not chosen, or not known to
        the platform.
        """
        relationship = self.relationship_among(metadata.relationships(entity))
        return () if relationship is None else (relationship.referenced, relationship.referencing)

    def related_among(self, exposures: Iterable[Exposed]) -> Exposed | None:
        """Return the related entity; None when it is not among `exposures`, those of the module."""
        return next((exposure for exposure in exposures if exposure.segment == self.related), None)


ASSOCIATE = OperationKind(
    name="associate",
    label=_("Associate"),
    summary=_("Associates a record with a related one, by a many-to-many relationship."),
    scope=Scope.ENTITY,
    methods=(ASSOCIATE_METHOD, DISASSOCIATE_METHOD),
    path="/api/{module}/{segment}/{id}/{name}/{relatedId}",
    settings=AssociateSettings,
    sections=STEPS,
    meanings={
        ASSOCIATE_METHOD: Meaning(
            _("Associate"), "Associates the two records.", "The two records are associated."
        ),
        DISASSOCIATE_METHOD: Meaning(
            _("Disassociate"),
            "Takes the association of the two records away.",
            "The two records are not associated.",
        ),
    },
)
