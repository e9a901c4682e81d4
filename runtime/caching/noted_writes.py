"""A platform that notes writes: each write raises the generations of the entities that it changes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from crmclient import Platform, Reference
from crmclient.errors import PlatformError
from crmclient.metadata import Relationship
from crmclient.optional_abilities import RefusesUnsent
from crmclient.parties import PARTY
from crmclient.platform import SERVICE_CALL, Create, Delete, Update
from crmclient.stand_in import Effect, MemberCall, StandIn
from runtime.caching.generations import ANY, raise_generations

logger = logging.getLogger("portico.caching")

R = TypeVar("R")


class _Switch:
    """Whether some endpoint caches its answers, as this process knows it."""

    is_on = False


_switch = _Switch()


def cache_from_now_on(is_on: bool) -> None:
    """Say whether some endpoint of the configuration that is served from now on caches its answers."""
    _switch.is_on = is_on


class NotedWrites(StandIn):
    """Passes all calls on to `platform`. A write ends the cached answers that it may have changed.

    With `always`, this happens even if this process knows of no endpoint that caches its answers. `changes`
    are the entities that processes are declared to change, beside those of their targets; without any, a
    process may change all entities.
    """

    def __init__(self, platform: Platform, *, always: bool = False, changes: Collection[str] = ()) -> None:
        super().__init__(platform)
        self._always = always
        self._changes = frozenset(changes)
        self._refusing = platform if isinstance(platform, RefusesUnsent) else None

    @property
    def _is_needed(self) -> bool:
        """Whether cached answers may exist that a write has to end."""
        return self._always or _switch.is_on

    def answer(self, member_call: MemberCall, ask: Callable[[], R]) -> R:
        """Pass the call on. Before and after a write, raise the generations of the entities it may change.

        Before, so that no answer is found that was read before the write. After, so that none is found that
        was read while it was under way.
        """
        if member_call.effect is not Effect.WRITE:
            return ask()
        entities: Collection[str] = ()
        if self._is_needed:
            # What is not sent ends no answers: they are all that callers have while the platform is away.
            if self._refusing is not None:
                self._refusing.refuse(member_call.options.get("call", SERVICE_CALL))
            entities = self._changed_entities(member_call)
            raise_generations(entities)
        try:
            answer = ask()
        except BaseException:
            # What has failed may have been done all the same.
            self._raise_after_failure(member_call, entities)
            raise
        # Somebody may have switched a cache on while the write was under way.
        if entities or self._is_needed:
            raise_generations(entities or self._changed_entities(member_call))
        return answer

    def _raise_after_failure(self, member_call: MemberCall, entities: Collection[str]) -> None:
        """End the cached answers of the entities after a write that failed, because it may have been done."""
        if not entities and not self._is_needed:
            return
        try:
            raise_generations(entities or self._changed_entities(member_call))
        except Exception:
            # The caller learns of the write's own failure, which says more.
            logger.exception("cached answers could not be ended after a write that failed")

    def _changed_entities(self, member_call: MemberCall) -> Collection[str]:
        """Return the entities whose records a write may change, directly or through reactions of the
        platform.
        """
        entities_of_write: Callable[..., Iterable[str]] = _CHANGED_BY_MEMBER.get(
            member_call.member, _any_entity
        )
        return frozenset(entities_of_write(self, *member_call.arguments, **member_call.options))

    def _changed_by_create(self, entity: str, values: Mapping[str, Any], **options: Any) -> Iterable[str]:
        """Return the entities that creating a record changes."""
        return _with_parties(entity, values)

    def _changed_by_update(
        self, entity: str, id: str, values: Mapping[str, Any], **options: Any
    ) -> Iterable[str]:
        """Return the entities that changing a record changes; any entity when its owner changes."""
        ownership = self.conventions.of(entity).ownership
        # With an owner, platforms may change that of the records below it.
        if ownership is not None and ownership.attribute in values:
            return (ANY,)
        return _with_parties(entity, values)

    def _changed_by_upsert(
        self, entity: str, key: Mapping[str, Any], values: Mapping[str, Any], **options: Any
    ) -> Iterable[str]:
        """Return the entities that creating or changing a record changes."""
        # Which record it is does not matter: a create changes no more entities than an update.
        return self._changed_by_update(entity, "", values)

    def _changed_by_delete(self, *args: Any, **options: Any) -> Iterable[str]:
        """Return any entity."""
        # Platforms delete, and take links from, whatever refers to the record.
        return (ANY,)

    def _changed_by_upload(self, entity: str, *args: Any, **options: Any) -> Iterable[str]:
        """Return the entity whose record gets the file."""
        return (entity,)

    def _changed_by_batch(self, operations: Iterable[Any], **options: Any) -> Iterator[str]:
        """Yield the entities that the operations of a batch change."""
        for operation in operations:
            match operation:
                case Create():
                    yield from self._changed_by_create(operation.entity, operation.values)
                case Update():
                    yield from self._changed_by_update(operation.entity, operation.id, operation.values)
                case Delete() | _:
                    yield from self._changed_by_delete()

    def _changed_by_associate(
        self, entity: str, id: str, relationship: str, *args: Any, **options: Any
    ) -> Iterable[str]:
        """Return the entities whose answers an association may change: both ends and the pairs; any, where it
        is not known.
        """
        try:
            relationships: Iterable[Relationship] = self._platform.relationships(entity)
        except PlatformError:
            return (ANY,)
        for relation in relationships:
            if relation.name == relationship and relation.intersect is not None:
                return (relation.referenced, relation.referencing, relation.intersect)
        return (ANY,)

    def _changed_by_execute(
        self, process: str, *args: Any, target: Reference | None = None, **options: Any
    ) -> Iterable[str]:
        """Return the entities that the process is declared to change, with that of its target; any entity if
        nothing is declared.
        """
        if not self._changes:
            return (ANY,)
        return self._changes if target is None else self._changes | {target.entity}


def _with_parties(entity: str, values: Mapping[str, Any]) -> Iterable[str]:
    """Return the written entity and, when a value is a tuple, the entity of parties.

    An empty party list cannot be told from other empty lists, so that any tuple counts.
    """
    return (entity, PARTY) if any(isinstance(value, tuple) for value in values.values()) else (entity,)


def _any_entity(platform: NotedWrites, *args: Any, **options: Any) -> Iterable[str]:
    """Return any entity, for a member of Platform about which nothing is known."""
    return (ANY,)


# The entities that a call may change, by the member of Platform that is called. Each function takes the
# arguments of that member. A member that is not listed may change any entity.
_CHANGED_BY_MEMBER: Mapping[str, Callable[..., Iterable[str]]] = {
    "create": NotedWrites._changed_by_create,
    "update": NotedWrites._changed_by_update,
    "upsert": NotedWrites._changed_by_upsert,
    "delete": NotedWrites._changed_by_delete,
    "upload": NotedWrites._changed_by_upload,
    "batch": NotedWrites._changed_by_batch,
    "associate": NotedWrites._changed_by_associate,
    "disassociate": NotedWrites._changed_by_associate,
    "execute": NotedWrites._changed_by_execute,
}
