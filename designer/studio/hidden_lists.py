"""Lists of the configuration that only those see who may look at their rows: issuers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from django.http import HttpRequest

from designer.definitions import ConfigurationDocument
from designer.documents.judgement import Refused, prevented_by
from designer.documents.keys import collections_of, nouns_of
from designer.documents.plan import Plan
from designer.documents.problems import DocumentError
from designer.history.refused_changes import ChangeRefused
from designer.readiness import Finding
from designer.sentences import Sentence, listed, said

# The permission to see each of the lists that are RESTRICTED, by its name in the document.
_VIEW_PERMISSIONS = {"issuers": "designer.view_issuer"}


def hidden_from(request: HttpRequest) -> frozenset[str]:
    """Return the names of the document's lists that the account may not see."""
    return frozenset(name for name, right in _VIEW_PERMISSIONS.items() if not request.user.has_perm(right))


def without_hidden(document: ConfigurationDocument, request: HttpRequest) -> ConfigurationDocument:
    """Return the document without the content that the account may not see."""
    return document.model_copy(update=dict.fromkeys(hidden_from(request), ()))


def text_without_hidden(text: str, request: HttpRequest) -> str:
    """Return the text of a document without the lists that the account may not see."""
    document = json.loads(text)
    hidden = hidden_from(request) & document.keys()
    if not hidden:
        return text
    visible = {name: value for name, value in document.items() if name not in hidden}
    return json.dumps(visible, ensure_ascii=False, indent=2) + "\n"


def visible_findings(findings: Iterable[Finding], request: HttpRequest) -> list[Finding]:
    """Return the findings about items that the account may see."""
    hidden = collections_of(hidden_from(request))
    return [
        finding
        for finding in findings
        if not any(collection.has_subject(finding.subject) for collection in hidden)
    ]


def visible_refusals(findings: Iterable[Finding], request: HttpRequest) -> list[str]:
    """Return the sentences of findings for which a change was refused.

    Of items that the account may not see, one sentence says no more than that there are some.
    """
    findings = list(findings)
    visible = visible_findings(findings, request)
    hidden = [finding for finding in findings if finding not in visible]
    fields = {
        collection.field
        for collection in collections_of(hidden_from(request))
        if any(collection.has_subject(finding.subject) for finding in hidden)
    }
    said_of_hidden = [said(prevented_by(fields))] if fields else []
    return [*said_of_hidden, *(finding.said for finding in visible)]


def visible_problems(error: DocumentError | ChangeRefused, request: HttpRequest) -> Sequence[str]:
    """Return why something was refused, without a word on items that the account may not see."""
    if isinstance(error, ChangeRefused):
        return visible_refusals(error.findings, request)
    if isinstance(error, Refused):
        return tuple(error.judgement.sentences(hidden_from(request)))
    return error.problems


def words_on_hidden(changed: Iterable[str], request: HttpRequest) -> Sentence | None:
    """Return a sentence that a proposal changes what the account may not see; None where it may see all.
    `changed` are the names of the lists that the proposal changes.
    """
    fields = hidden_from(request).intersection(changed)
    if not fields:
        return None
    return Sentence(
        "The proposal also changes something that you may not see: %(items)s. Ask an administrator to "
        "approve and publish the proposal.",
        items=listed(nouns_of(fields), ", "),
    )


def visible_lines(plan: Plan, request: HttpRequest) -> Iterator[str]:
    """Return the lines of a plan about items that the account may see."""
    hidden = hidden_from(request)
    changes, kept = (
        tuple(change for change in side if change.collection.field not in hidden)
        for side in (plan.changes, plan.kept)
    )
    return Plan(changes, plan.reordered, kept).lines(names_option=False)
