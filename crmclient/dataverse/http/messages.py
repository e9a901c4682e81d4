"""A request and its answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from crmclient import exact_json
from crmclient.errors import UnexpectedAnswer
from crmclient.sentences import Sentence

JSON = {"Content-Type": "application/json"}


@dataclass(frozen=True, slots=True)
class Request:
    """`url` is absolute and encoded. `repeatable`: sent twice it has done no more than sent once.

    A body that is no bytes is iterated anew for each attempt, and its Content-Length is among the headers.
    `user` is the only application user who may send it; without one, whoever has most left does.
    """

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | Iterable[bytes] | None = None
    repeatable: bool = False
    user: int | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer. Header names are in lower case.

    `after_loss`: the answer to an earlier attempt was lost, which may have done what was asked. `user` is the
    application user who asked.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    after_loss: bool = False
    user: int | None = None

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    def close(self) -> None:
        """Do nothing. Open responses have this method, too."""

    def json(self) -> dict[str, Any]:
        """Return the JSON object in the body. Raises UnexpectedAnswer for anything else, and for an error
        sent as 200.
        """
        try:
            value = exact_json.parse(self.body)
        except ValueError:
            raise UnexpectedAnswer(
                Sentence("The platform's answer (%(status)s) is not JSON.", status=self.status)
            ) from None
        if not isinstance(value, dict):
            raise UnexpectedAnswer(Sentence("The platform's answer is not a JSON object."))
        if self.ok and set(value) == {"error"}:
            raise UnexpectedAnswer(
                Sentence("The platform sent an error with status %(status)s.", status=self.status)
            )
        return value


@contextmanager
def reading(subject: Sentence) -> Iterator[None]:
    """Raise UnexpectedAnswer for a property that an answer about `subject` lacks or has of another type.

    `subject` stands in the error's sentence, such as “the platform's views”.
    """
    try:
        yield
    except KeyError as error:
        raise UnexpectedAnswer(
            Sentence(
                "In %(subject)s, the property %(property)s is missing.",
                subject=subject,
                property=str(error.args[0]),
            )
        ) from error
    except (TypeError, ValueError, AttributeError) as error:
        raise UnexpectedAnswer(
            Sentence(
                "In %(subject)s, a property is not of its type: %(problem)s.",
                subject=subject,
                problem=str(error),
            )
        ) from error
