"""Answers that say no, as the errors of `crmclient.errors`.

Dataverse's codes decide where they are known, statuses elsewhere. Its own words are kept for the log only,
but for those of a plug-in or process, which are meant for people.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from crmclient import errors
from crmclient.dataverse.error_subjects import Kind, Subject
from crmclient.dataverse.http.messages import Answer
from crmclient.errors import InvalidValue, MissingPrivilege, PlatformError, UnexpectedAnswer
from crmclient.sentences import Sentence
from crmclient.values import references

_LONGEST_MESSAGE: Final = 500
_QUOTED: Final = re.compile(r"['\"]([a-z0-9_]+)['\"]")
_PRIVILEGE: Final = re.compile(r"\bprv[A-Za-z0-9_]{1,100}\b", re.ASCII)
_GUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

# By our own codes, which the details of the CRM server's answers have.
_PROBLEMS: Final = {
    problem_type.code: problem_type
    for problem_type in (
        errors.UnknownAttribute,
        errors.ReadOnlyAttribute,
        errors.MissingRequired,
        errors.WrongType,
        errors.TooLong,
        errors.OutOfRange,
        errors.UnknownOption,
        errors.UnknownTarget,
    )
}
# By Dataverse's codes.
_PROBLEM_CODES: Final[dict[str, type[InvalidValue]]] = {
    "0x80040200": errors.MissingRequired,
    "0x80040224": errors.ReadOnlyAttribute,
    "0x8004431a": errors.UnknownOption,
    "0x80044330": errors.OutOfRange,
    "0x80044331": errors.TooLong,
    "0x80044a02": errors.TooLong,
    "0x80072553": errors.WrongType,
}


@dataclass(frozen=True, slots=True)
class Refusal:
    """The contents of an error's body. All are empty when the body says nothing."""

    status: int
    code: str = ""
    message: str = ""
    details: tuple[dict[str, Any], ...] = ()

    def __str__(self) -> str:
        """Return the status, the code and the message, cut if it is long: the end of a sentence."""
        said = ": ".join(part for part in (self.code, self.message[:_LONGEST_MESSAGE]) if part)
        text = f"{self.status} {said}" if said else f"{self.status}"
        # Another sentence may follow, and not every message of a platform ends with a full stop.
        return text if text.endswith((".", "!", "?", "…")) else f"{text}."


ACT_FOR_OTHERS: Final = "prvActOnBehalfOfAnotherUser"
"""The service's own account needs it, whichever user a call is made for."""


class TokenNotTaken(errors.SignInRefused):
    """Entra ID gave a token, and the platform refuses it, also one that was fetched anew."""

    def __init__(self) -> None:
        super().__init__(Sentence("The platform refuses the service's token (401)."))


def check(answer: Answer, subject: Subject, *, acting: bool) -> None:
    """Raise the error that an answer means, unless the answer is a success.

    `acting` says that the call was made for a caller.
    """
    if not answer.ok:
        raise error_of(answer, subject, acting=acting)


def error_of(answer: Answer, subject: Subject, *, acting: bool) -> PlatformError:
    """Return the error that an answer stands for. `acting`: the request was made for a platform user."""
    refusal = _refusal_in(answer)
    if 300 <= refusal.status < 400:
        return UnexpectedAnswer(
            Sentence(
                "The platform redirects (%(status)s); redirects are not followed.", status=refusal.status
            )
        )
    if refusal.status == 401:
        return TokenNotTaken()
    if refusal.status == 403 and not refusal.code.lower().startswith("0x"):
        # Dataverse numbers its refusals. A firewall on the way may have JSON, too, and words for a code.
        return UnexpectedAnswer(_unexpected(refusal))
    make_error = _BY_CODE.get(refusal.code.lower()) or _BY_STATUS.get(refusal.status)
    # In a call for nobody else, the role of the service itself lacks something. For others see `_denied`.
    privilege = _privilege_in(refusal.message) if refusal.status == 403 else ""
    if refusal.status == 403 and (not acting or privilege == ACT_FOR_OTHERS):
        return MissingPrivilege(privilege)
    if make_error is None and refusal.code and refusal.status >= 500:
        return errors.PlatformFault(_unexpected(refusal))
    if make_error is None or not refusal.code:
        # A gateway on the way may answer with any status, but not in the protocol's shape.
        return UnexpectedAnswer(_unexpected(refusal))
    return make_error(refusal, subject)


def _refusal_in(answer: Answer) -> Refusal:
    """Return what the body of an error says; only the status if the body is not in the protocol's shape."""
    try:
        error = answer.json()["error"]
    except (UnexpectedAnswer, KeyError):
        return Refusal(answer.status)
    if not isinstance(error, dict):
        return Refusal(answer.status)
    details = error.get("details")
    return Refusal(
        answer.status,
        str(error.get("code") or ""),
        str(error.get("message") or ""),
        tuple(item for item in details if isinstance(item, dict)) if isinstance(details, list) else (),
    )


def _privilege_in(message: str) -> str:
    """Return the name of the first privilege in a message; empty without one. Nothing else is taken from the
    message.
    """
    match = _PRIVILEGE.search(message)
    return match[0] if match else ""


def _unexpected(refusal: Refusal) -> Sentence:
    """Return what to say of an answer that means nothing in the protocol."""
    if not refusal.code and not refusal.message:
        return Sentence("The platform answers %(status)s.", status=refusal.status)
    return Sentence("The platform answers %(answer)s", answer=str(refusal))


def is_unreadable(answer: Answer) -> bool:
    """Whether a write is refused because the user may not read the record, which only the answer needs."""
    return answer.status == 403 and _privilege_in(_refusal_in(answer).message).lower().startswith("prvread")


def _not_found(refusal: Refusal, subject: Subject) -> PlatformError:
    """Return the error for a missing record: the written one, or the target of a lookup among the written
    values.
    """
    named_ids = set(_GUID.findall(refusal.message.lower()))
    problems = [
        errors.UnknownTarget(name, f"There is no {record.entity} with id {record.id}.")
        for name, value in subject.values.items()
        for record in references(value)
        if record.id in named_ids and record.id != subject.id
    ]
    if problems:
        return errors.InvalidRecord(subject.entity, problems)
    return errors.RecordNotFound(subject.entity, subject.id)


def _nothing_there(refusal: Refusal, subject: Subject) -> PlatformError:
    """Return the error for a 404 whose code does not say what is missing."""
    if subject.kind is Kind.PROCESS and not subject.entity:
        # A process that runs on no record of a caller's: it is what is missing.
        return errors.UnknownProcess(subject.name)
    return _not_found(refusal, subject)


def _no_resource(refusal: Refusal, subject: Subject) -> PlatformError:
    """Return the error for a path that names no process or entity set."""
    if subject.kind is Kind.PROCESS:
        return errors.UnknownProcess(subject.name)
    return errors.UnknownEntity(subject.entity) if subject.entity else UnexpectedAnswer(_unexpected(refusal))


def _duplicate(refusal: Refusal, subject: Subject) -> PlatformError:
    """Return the error for a duplicate key: the key that the message names, else the first one that was
    written.
    """
    written_keys = [key for key in subject.keys if set(key.attributes) & set(subject.values)]
    # This code says that a record with the same id exists.
    if refusal.code.lower() == "0x80040237" or not written_keys:
        return errors.DuplicateKey(subject.entity, subject.primary_id)
    named_keys = [key for key in written_keys if key.name in refusal.message]
    return errors.DuplicateKey(subject.entity, (named_keys or written_keys)[0].name)


def _possible_duplicate(_: Refusal, subject: Subject) -> PlatformError:
    return errors.PossibleDuplicate(subject.entity)


def _version_mismatch(_: Refusal, subject: Subject) -> PlatformError:
    return errors.VersionMismatch(subject.entity, subject.id)


def _denied(refusal: Refusal, _: Subject) -> PlatformError:
    return errors.AccessDenied(str(refusal), _privilege_in(refusal.message))


def _conflict(refusal: Refusal, _: Subject) -> PlatformError:
    return errors.StateConflict(str(refusal))


def _refused(refusal: Refusal, _: Subject) -> PlatformError:
    return errors.Refused(refusal.message)


def _invalid(refusal: Refusal, subject: Subject) -> PlatformError:
    """Return an error with all wrong values that the answer lists, else with the one that its
    message names.
    """
    if subject.kind is Kind.QUERY:
        return errors.QueryRefused(str(refusal), refusal.code)
    if subject.kind is Kind.METADATA:
        return UnexpectedAnswer(_unexpected(refusal))
    problems = [
        _PROBLEMS.get(str(item.get("code")), InvalidValue)(
            str(item.get("target") or ""), str(item.get("message") or "")
        )
        for item in refusal.details
    ]
    problem_type = _PROBLEM_CODES.get(refusal.code.lower())
    if not problems and problem_type is not None:
        names = [name for name in _QUOTED.findall(refusal.message) if name in subject.values]
        problems = [problem_type(names[0] if names else subject.name, refusal.message)]
    if problems:
        # What is wrong with a process's inputs is not wrong with the record that it runs on.
        owner = subject.name if subject.kind is Kind.PROCESS else subject.entity or subject.name
        return errors.InvalidRecord(owner, problems)
    return errors.Refused(refusal.message)


_BY_CODE: Final[dict[str, Callable[[Refusal, Subject], PlatformError]]] = {
    "0x80040217": _not_found,
    "0x80060891": _not_found,
    "0x8006088a": _no_resource,
    "0x80060882": _version_mismatch,
    "0x80040237": _duplicate,
    "0x80060892": _duplicate,
    "0x80040333": _possible_duplicate,
    "0x80040220": _denied,
    "0x80040225": _denied,
    "0x80048306": _denied,
    "0x80040227": _conflict,
    "0x80040265": _refused,
    **dict.fromkeys(_PROBLEM_CODES, _invalid),
}

_BY_STATUS: Final[dict[int, Callable[[Refusal, Subject], PlatformError]]] = {
    400: _invalid,
    403: _denied,
    404: _nothing_there,
    405: _conflict,
    409: _conflict,
    412: _version_mismatch,
    413: _invalid,
}
