"""What people are asked before a change opens an endpoint to more callers, on whichever page they make it."""

from __future__ import annotations

from dataclasses import dataclass

from designer.access_control.access_matrix import callers_in_words, widens
from designer.definitions import AccessDefinition
from designer.history.items import digest_of
from designer.sentences import Sentence, listed


@dataclass(frozen=True, slots=True)
class OpenedAccess:
    """A change of who may call the endpoint with row id `id`. `writes`: the endpoint writes. `is_draft`: it
    is not served yet.
    """

    id: int
    before: AccessDefinition
    after: AccessDefinition
    writes: bool
    is_draft: bool

    @property
    def warnings(self) -> list[Sentence]:
        """Return why the change must be confirmed; empty when it need not be."""
        warnings = []
        if self.writes and widens(self.before, self.after):
            warnings.append(
                Sentence("This endpoint writes. The change lets in callers who may not call it now.")
            )
        if self.before.authentication_required and not self.after.authentication_required:
            warnings.append(
                Sentence(
                    "The change opens the endpoint to the whole internet: anybody may call it without a "
                    "token."
                )
            )
        return warnings

    @property
    def question(self) -> Sentence:
        """Return the warnings, with who may call now and who could afterwards."""
        callers = Sentence(
            "May call it now: %(before)s. May call it after the change: %(after)s.",
            before=callers_in_words(self.before, beside=self.after),
            after=callers_in_words(self.after, beside=self.before),
        )
        draft = Sentence("It is a draft: the change counts from when it is enabled.")
        drafts = [draft] if self.is_draft else []
        return listed([Sentence("Not saved yet."), *self.warnings, *drafts, callers], " ")

    @property
    def digest(self) -> str:
        """Return the digest of the question, so that an answer counts for this question only."""
        return digest_of([self.id, self.before.to_json(), self.after.to_json(), self.is_draft])
