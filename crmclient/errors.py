"""What can go wrong on a platform, in one family.

    PlatformError
    ├── MetadataError
    │   ├── UnknownEntity
    │   ├── UnknownOptionSet
    │   ├── UnknownProcess
    │   ├── UnknownRelationship        no many-to-many relationship of the entity has the name
    │   ├── UnknownKey                 the entity has no alternate key of these attributes
    │   └── InvalidDefinition          a metadata change that makes no sense
    ├── InvalidQuery                   a query the platform cannot run, with the construct's name
    │   ├── UnfitValue                 a value that its condition cannot take
    │   └── QueryRefused               the platform's own refusal; `code` is its number
    ├── InvalidRecord                  one or more values are wrong; `problems` names each
    ├── RecordNotFound
    ├── DuplicateKey                   an id or an alternate key is taken
    ├── PossibleDuplicate              the record looks like another, by the platform's rules
    ├── StateConflict                  the record's state or its relations forbid it
    ├── VersionMismatch                the record changed since the version the caller holds
    ├── Unsupported                    the platform has nothing of the kind, as its conventions say
    ├── AccessDenied                   the acting user lacks a privilege
    ├── Refused                        a process, rule or plug-in said no; its message is for people
    └── PlatformFailure
        ├── Throttled                  service protection limits; `retry_after` seconds
        ├── Unavailable                not reachable, or the circuit is open; `retry_after` seconds
        │   ├── TooSlow                the circuit is open, because answers did not come in time
        │   ├── Unreachable            no connection, or it ended before the answer
        │   │   ├── UnknownHost        the name in the platform's address has no address
        │   │   └── UntrustedCertificate
        │   └── MetadataPending        the metadata is being fetched, and is there in a moment
        ├── DeadlineExceeded
        ├── OutOfSpace                 the platform has no room for what is written
        └── UnexpectedAnswer           an answer that is not of the protocol
            ├── PlatformFault          the platform says that something has gone wrong in it
            ├── SignInRefused          the service's own account is not let in
            ├── MissingPrivilege       the service's own account lacks a privilege, which is named
            └── FileLost               the platform knows of a file, but its bytes are gone

    InvalidValue                       one wrong value, listed in InvalidRecord.problems
    ├── UnknownAttribute
    ├── ReadOnlyAttribute
    ├── MissingRequired
    ├── WrongType
    ├── TooLong
    ├── OutOfRange
    ├── UnknownOption
    └── UnknownTarget

Messages are written for the service's log and for developers. What an API consumer may read of them is
the runtime's decision.
"""

from __future__ import annotations

from collections.abc import Iterable

from crmclient.sentences import Sentence


class PlatformError(Exception):
    """The root of the family. `item` is the index of the operation of a batch that failed."""

    item: int | None = None


class MetadataError(PlatformError):
    """A name that the platform's metadata does not know, or a definition it cannot hold."""


class UnknownEntity(MetadataError):
    def __init__(self, entity: str) -> None:
        super().__init__(Sentence("There is no entity %(name)s.", name=repr(entity)))
        self.entity = entity


class UnknownOptionSet(MetadataError):
    def __init__(self, name: str) -> None:
        super().__init__(Sentence("There is no option set %(name)s.", name=repr(name)))
        self.name = name


class UnknownProcess(MetadataError):
    def __init__(self, name: str) -> None:
        super().__init__(Sentence("There is no process %(name)s.", name=repr(name)))
        self.name = name


class UnknownRelationship(MetadataError):
    """No many-to-many relationship of `entity` with another entity has this name."""

    def __init__(self, entity: str, name: str) -> None:
        super().__init__(
            Sentence("%(entity)s has no many-to-many relationship %(name)s.", entity=entity, name=repr(name))
        )
        self.entity = entity
        self.name = name


class UnknownKey(MetadataError):
    """No alternate key of `entity` is made of these attributes."""

    def __init__(self, entity: str, attributes: Iterable[str]) -> None:
        self.entity = entity
        self.attributes = tuple(attributes)
        super().__init__(
            Sentence(
                "%(entity)s has no alternate key of %(attributes)s.",
                entity=entity,
                attributes=", ".join(self.attributes) or "nothing",
            )
        )


class InvalidDefinition(MetadataError):
    """A metadata change that contradicts itself or what exists."""


class InvalidQuery(PlatformError):
    """A query the platform refuses; the message names the construct."""


class UnfitValue(InvalidQuery):
    """A value in a query that its condition cannot take, while it could take another value."""


class QueryRefused(InvalidQuery):
    """A query in which nothing wrong was found, and which the platform refuses; the text is its own.

    `code` is the platform's number of the refusal, such as `0x80041103`, and holds no value.
    """

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


class InvalidValue(Exception):
    """One wrong value of a record.

    `attribute` is the logical name; `code` is stable and snake_case; the text says what would be right.
    """

    code = "invalid"

    def __init__(self, attribute: str, message: str) -> None:
        super().__init__(message)
        self.attribute = attribute
        self.message = message


class UnknownAttribute(InvalidValue):
    code = "unknown_attribute"


class ReadOnlyAttribute(InvalidValue):
    code = "read_only"


class MissingRequired(InvalidValue):
    code = "required"


class WrongType(InvalidValue):
    code = "wrong_type"


class TooLong(InvalidValue):
    code = "too_long"


class OutOfRange(InvalidValue):
    code = "out_of_range"


class UnknownOption(InvalidValue):
    code = "unknown_option"


class UnknownTarget(InvalidValue):
    """A lookup's target entity is not allowed, or the record it points at does not exist."""

    code = "unknown_target"


class InvalidRecord(PlatformError):
    """Values of a record were refused, and nothing was written. `problems` has every wrong value."""

    def __init__(self, entity: str, problems: Iterable[InvalidValue]) -> None:
        self.entity = entity
        self.problems = tuple(problems)
        super().__init__(f"{entity}: " + "; ".join(f"{p.attribute}: {p.message}" for p in self.problems))


class RecordNotFound(PlatformError):
    def __init__(self, entity: str, id: str) -> None:
        super().__init__(f"There is no {entity} with id {id}.")
        self.entity = entity
        self.id = id


class DuplicateKey(PlatformError):
    """`key` is the alternate key's name, or the primary key's attribute."""

    def __init__(self, entity: str, key: str) -> None:
        super().__init__(f"A {entity} with the same {key} exists.")
        self.entity = entity
        self.key = key


class PossibleDuplicate(PlatformError):
    """A rule of the platform says that the record may be a duplicate of one of `entity` or of the rule's
    other entity.
    """

    def __init__(self, entity: str) -> None:
        super().__init__(f"A record that this {entity} may be a duplicate of exists.")
        self.entity = entity


class StateConflict(PlatformError):
    """The record is in a state, or has relations, that forbid the operation."""


class VersionMismatch(PlatformError):
    def __init__(self, entity: str, id: str) -> None:
        super().__init__(f"The {entity} {id} has changed since the version given.")
        self.entity = entity
        self.id = id


class Unsupported(PlatformError):
    """The platform cannot do this for any record: it does not declare the ability."""


class AccessDenied(PlatformError):
    """The user whom the call acts for lacks a privilege on the platform.

    `privilege` is its name there, such as `prvReadAccount`; empty where the platform does not say it.
    """

    def __init__(self, message: str, privilege: str = "") -> None:
        super().__init__(message)
        self.privilege = privilege


class Refused(PlatformError):
    """A process, business rule or plug-in refused the data. `str(error)` is its message."""


class PlatformFailure(PlatformError):
    """The platform failed, the caller did nothing wrong. `retry_after` is in seconds, when it is known."""

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Throttled(PlatformFailure):
    """Service protection limits were reached."""


class Unavailable(PlatformFailure):
    """The platform takes no call now: it says so, or has failed so often that it is left alone for a time."""


class TooSlow(Unavailable):
    """The platform has not answered in time so often that it is left alone for a while. Nothing was sent."""


class Unreachable(Unavailable):
    """No connection to the platform was made, or it ended before the answer."""


class UnknownHost(Unreachable):
    """The name of the platform's host is not known here."""


class UntrustedCertificate(Unreachable):
    """The certificate of the platform, or of a proxy in its place, is not trusted here."""


class AnswerLost(Unreachable):
    """The connection ended after something was sent that changes data: it may have been carried out."""


class Busy(Unavailable):
    """Too many calls to the platform are under way, so that another one was not sent."""


class MetadataPending(Unavailable):
    """The metadata is being fetched, which takes longer than the work under way can wait for it."""

    def __init__(self) -> None:
        super().__init__(Sentence("Metadata is being fetched from the platform."), retry_after=5)


class DeadlineExceeded(PlatformFailure):
    """The call's deadline passed."""


class MetadataLate(DeadlineExceeded):
    """The platform did not give its metadata in time. Nothing else has been asked of it."""


class OutOfSpace(PlatformFailure):
    """The platform has no room left for what is written. Nothing of it is kept."""


class UnexpectedAnswer(PlatformFailure):
    """The platform answered something that is not of its protocol."""


class PlatformFault(UnexpectedAnswer):
    """The platform says, in its own protocol, that something has gone wrong in it."""


class SignInRefused(UnexpectedAnswer):
    """The platform, or who gives out its tokens, does not let the service's own account in."""


class MissingPrivilege(UnexpectedAnswer):
    """The service's own account lacks a privilege on the platform: what it would have told is unknown.

    `privilege` is its name there, such as `prvReadEntity`; empty where the platform does not say it.
    """

    def __init__(self, privilege: str) -> None:
        super().__init__(
            Sentence(
                "The service's own account on the platform lacks the privilege %(privilege)s.",
                privilege=privilege,
            )
            if privilege
            else Sentence(
                "The service's own account on the platform lacks a privilege that the platform does not name."
            )
        )
        self.privilege = privilege


class FileLost(UnexpectedAnswer):
    """The platform knows of a file, but its bytes are missing or too few."""
