"""Requests of the Web API: JSON in and out, errors as `crmclient.errors`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from crmclient import exact_json
from crmclient.dataverse.error_subjects import Subject
from crmclient.dataverse.failures import check
from crmclient.dataverse.http.client import Client
from crmclient.dataverse.http.messages import JSON, Answer, Request
from crmclient.dataverse.multipart import one_get, parts_of
from crmclient.errors import InvalidQuery, UnexpectedAnswer
from crmclient.platform import Call
from crmclient.sentences import Sentence

LONGEST_URL: Final = 32_000
"""A little less than the 32,768 characters that Dataverse takes, for what proxies add."""

LONGEST_INNER_URL: Final = 65_000
"""A little less than the 65,536 characters that Dataverse takes of a URL inside a batch."""

FORMATTED: Final = "OData.Community.Display.V1.FormattedValue"
LOOKUP_NAME: Final = "Microsoft.Dynamics.CRM.lookuplogicalname"
REFERENCES: Final = f'odata.include-annotations="{FORMATTED},{LOOKUP_NAME}"'
REPRESENTATION: Final = "return=representation"
_NO_VERSION: Final = (None, "", 'W/""', '""')


class Api:
    """Sends requests of Dataverse's Web API. Paths are relative to the base, and encoded."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.base = client.options.base

    def get(self, path: str, subject: Subject, call: Call, *, prefer: str | None = None) -> dict[str, Any]:
        """Return the JSON object that a GET is answered with. A GET with a long URL is sent inside a
        $batch.
        """
        headers = {} if prefer is None else {"Prefer": prefer}
        if len(self.base) + len(path) > LONGEST_URL:
            answer = self._inside_batch(path, headers, subject, call)
        else:
            answer = self.send(Request("GET", self.base + path, headers, repeatable=True), subject, call)
        return answer.json()

    def rows(
        self, path: str, subject: Subject, call: Call, *, prefer: str | None = None
    ) -> Iterator[dict[str, Any]]:
        """Yield the rows that a GET of an entity set is answered with, of all pages: Dataverse ends a page
        after 5,000 of them. Raises UnexpectedAnswer.
        """
        next_path: str | None = path
        while next_path is not None:
            answer = self.get(next_path, subject, call, prefer=prefer)
            yield from rows_in(answer)
            next_path = self._next_path(answer)

    def _next_path(self, answer: Mapping[str, Any]) -> str | None:
        """Return the path of the next page; None on the last. Raises UnexpectedAnswer for another address."""
        link = answer.get("@odata.nextLink")
        if link is None:
            return None
        if not isinstance(link, str) or not link.startswith(self.base):
            raise UnexpectedAnswer(Sentence("The platform's next page is at another address."))
        return link.removeprefix(self.base)

    def write(
        self,
        method: str,
        path: str,
        content: Mapping[str, Any] | None,
        subject: Subject,
        call: Call,
        *,
        headers: Mapping[str, str] | None = None,
        repeatable: bool = False,
    ) -> Answer:
        """Send a request that changes something, with a JSON body unless `content` is None. Return the
        answer.
        """
        request = self.request(method, path, content, headers, repeatable=repeatable)
        return self.send(request, subject, call)

    def request(
        self,
        method: str,
        path: str,
        content: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        repeatable: bool = False,
    ) -> Request:
        """Return a request with a JSON body, or without one if `content` is None."""
        body = None if content is None else exact_json.render(content)
        all_headers = {**({} if body is None else JSON), **(headers or {})}
        return Request(
            method=method, url=self.base + path, headers=all_headers, body=body, repeatable=repeatable
        )

    def send(self, request: Request, subject: Subject, call: Call) -> Answer:
        """Send a request, and return the answer if it is a success. Raises the error that it means if not."""
        answer = self.client.send(request, call)
        check(answer, subject, acting=call.caller is not None)
        return answer

    def _inside_batch(self, path: str, headers: Mapping[str, str], subject: Subject, call: Call) -> Answer:
        """Send a GET inside a batch, because its URL is too long to be sent alone."""
        if len(self.base) + len(path) > LONGEST_INNER_URL:
            raise InvalidQuery("The query is longer than Dataverse takes; give it fewer values or columns.")
        content_type, body = one_get(self.base + path, headers)
        # If the GET fails, the batch has its status. What has failed is said in the part alone.
        request = Request("POST", f"{self.base}$batch", {"Content-Type": content_type}, body, repeatable=True)
        answer = self.client.send(request, call)
        parts = list(parts_of(answer))
        if len(parts) != 1:
            check(answer, subject, acting=call.caller is not None)
            raise UnexpectedAnswer(
                Sentence("The platform's batch has another number of answers than of requests.")
            )
        check(parts[0].answer, subject, acting=call.caller is not None)
        return parts[0].answer


def rows_in(answer: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of an answer that lists records. Raises UnexpectedAnswer for another answer."""
    rows = answer.get("value")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise UnexpectedAnswer(Sentence("The platform's answer to a query has no rows."))
    return rows


def version_in(row: Mapping[str, Any], primary_id: str) -> str | None:
    """Return the version of a record from its entity tag `W/"123"`; None without a tag or with an empty one.

    Not every record has a version. Raises UnexpectedAnswer for any other tag, and for an object without the
    attribute `primary_id`, which is not a record.
    """
    # Without a version the id alone tells a record from the answer of something on the way.
    if not isinstance(row.get(primary_id), str):
        raise UnexpectedAnswer(Sentence("The platform's answer is not the record."))
    tag = row.get("@odata.etag")
    if tag in _NO_VERSION:
        return None
    if not isinstance(tag, str) or not (tag.startswith('W/"') and tag.endswith('"') and len(tag) > 4):
        raise UnexpectedAnswer(Sentence("The platform's answer has no row version."))
    return tag[3:-1]


def tag_of(version: str | None) -> str:
    """Return the entity tag of a version. For None it is `*`, which matches every existing record."""
    return "*" if version is None else f'W/"{version}"'
