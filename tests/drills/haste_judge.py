"""What people in haste have changed, held to what they were asked and what they chose."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import parse_qs

from tests.drills.doors import NOBODY, Answer, Answers, Database, Doors, Facts, Operation

# Forms send the answers to questions under these names. They are on a page only when it asks.
_TICKS = {"_breaks", "_moves", "_opened_access"}


@dataclass(eq=False)
class Sent:
    """A form that somebody has sent in the studio."""

    account: str
    path: str
    fields: Mapping[str, Sequence[str]]
    looks: int = 0
    """How often was looked since. An answer that nobody waits for may come late."""
    is_answered: bool = False

    @property
    def was_asked(self) -> bool:
        """Whether it answers a question, a plan or a page that asks."""
        return bool(
            not _TICKS.isdisjoint(self.fields)
            or "confirmed" in self.fields
            or self.fields.get("post") == ["yes"]
            or (self.path.endswith("/import/") and "digest" in self.fields)
            or ("/proposals/" in self.path and {"publish", "go_back"} & set(self.fields))
        )

    @property
    def tells_plan(self) -> bool:
        """Whether the page with its button shows what it would do: an import, a restore, a proposal."""
        return self.was_asked or self.path.endswith("/restore/")


def fields_of(body: str, content_type: str) -> Mapping[str, Sequence[str]]:
    """The fields of a form as a browser has sent it; of files, their names."""
    if not content_type.startswith("multipart/"):
        return parse_qs(body, keep_blank_values=True)
    fields: dict[str, list[str]] = {}
    for part in body.split("--" + content_type.partition("boundary=")[2]):
        head, _, value = part.partition("\r\n\r\n")
        if ' name="' in head:
            name = head.partition(' name="')[2].partition('"')[0]
            fields.setdefault(name, []).append(value.removesuffix("\r\n")[:1000])
    return fields


@dataclass
class Judge:
    """Compares what callers find with what they found before, and with what people have sent."""

    database: Database
    doors: Doors
    faults: list[str] = field(default_factory=list)
    versions: int = 0
    opened: int = 0
    closed: int = 0

    def __post_init__(self) -> None:
        self._facts = self.database.read()
        self._answers = self.doors.knock(self._facts.operations)

    def look(self, forms_sent: Callable[[], Collection[Sent]]) -> bool:
        """Judge what has changed since the last look, by the forms that may have changed it.

        `forms_sent` is asked after the look: a browser may tell of a form later than the form has done its
        work. Return whether anything has changed.
        """
        facts = self.database.read()
        if facts.revision == self._facts.revision:
            if self.doors.are_old:
                self._renew_tokens()
            return False
        answers = self._knock(facts.operations)
        again = self.database.read()
        if again.revision != facts.revision:
            # Somebody's form was at work meanwhile: what was found is of no one state.
            facts = Facts(
                again.revision, again.recorded, again.operations,
                [*facts.versions, *again.versions], again.called,
            )  # fmt: skip
            answers = self._knock(facts.operations)
        self._judge(facts, answers, forms_sent())
        self._facts, self._answers = facts, answers
        return True

    def _knock(self, operations: Collection[Operation]) -> Answers:
        """Call all operations. A caller who has called too often is taken to find what was found last."""
        known = {(place.id, place.method, who): one for (place, who), one in self._answers.items()}
        found: dict[tuple[Operation, str], Answer] = {}
        for (place, who), answer in self.doors.knock(operations).items():
            last = known.get((place.id, place.method, who)) if answer.status == 429 else answer
            if last is not None:
                found[place, who] = last
        return found

    def _renew_tokens(self) -> None:
        """Log all accounts in again, and take what they find now as what they found before.

        What changes meanwhile is held to what they found before that.
        """
        self.doors.log_in()
        answers = self._knock(self._facts.operations)
        if self.database.revision() == self._facts.revision:
            self._answers = answers

    def _judge(self, facts: Facts, answers: Answers, sent: Collection[Sent]) -> None:
        self.versions += len(facts.versions)
        if facts.recorded != facts.revision:
            self.faults.append(f"revision {facts.revision}, of which versions end at {facts.recorded}")
        if not facts.versions:
            return
        authors = {version["account"] for version in facts.versions}
        for version in facts.versions:
            if version["origin"] == "outside" or not version["account"]:
                self.faults.append(f"version {version['id']} is of nobody: {version['origin']}")
        forms = [form for form in sent if form.account in authors]
        self.faults += [
            f"{what}; versions {[version['id'] for version in facts.versions]} by "
            f"{[(form.account, form.path, sorted(form.fields)) for form in forms]}"
            for what in (*self._opened(facts, answers, forms), *self._broken(facts, answers, forms))
        ]
        for (operation, caller), answer in answers.items():
            if answer.status >= 500:
                self.faults.append(
                    f"{operation.method} {operation.path} answers {caller or 'nobody'} {answer}"
                )

    def _opened(self, facts: Facts, answers: Answers, forms: Collection[Sent]) -> Iterator[str]:
        """Say what callers may call now, and could not, without a form that says so."""
        by_id = {(place.id, place.method, who): one for (place, who), one in self._answers.items()}
        by_path = {(place.method, place.path, who): one for (place, who), one in self._answers.items()}
        for (operation, caller), answer in answers.items():
            before = [
                by_id.get((operation.id, operation.method, caller)),
                by_path.get((operation.method, operation.path, caller)),
            ]
            if not answer.is_open or any(one is not None and one.is_open for one in before):
                continue
            self.opened += 1
            if not any(_lets_in(form, operation, caller, facts) for form in forms):
                was = next((str(one) for one in before if one is not None), "not served")
                yield (
                    f"opened without being chosen: {operation.method} {operation.path} to "
                    f"{caller or 'nobody'}: {was} → {answer}"
                )

    def _broken(self, facts: Facts, answers: Answers, forms: Collection[Sent]) -> Iterator[str]:
        """Say what callers could call, and cannot now, although nobody was asked about it."""
        is_told = any(form.tells_plan for form in forms)
        # Which records callers reach is what the page of an exposed entity is about.
        narrows = any(name.startswith("row_rule-") for form in forms for name in form.fields)
        now = {(place.id, place.method): place for place in facts.operations}
        for (operation, caller), before in self._answers.items():
            if not before.is_open:
                continue
            other = now.get((operation.id, operation.method))
            after = answers.get((other, caller)) if other is not None else None
            moved = other is not None and other.path != operation.path
            worse = (
                after is None
                or not after.is_open
                or (before.status == 200 and after.status != 200 and not narrows)
            )
            if not worse and not moved:
                continue
            self.closed += 1
            if operation.key in self._facts.called and not is_told:
                now_is = "not served" if after is None else f"{other.path if other else ''} {after}"
                yield (
                    f"broken without a question: {operation.method} {operation.path} for "
                    f"{caller or 'nobody'}: {before} → {now_is}"
                )


def _lets_in(form: Sent, operation: Operation, caller: str, facts: Facts) -> bool:
    """Whether who sent the form has chosen, in it, that the caller may call the operation, or was asked."""
    path, fields = form.path, form.fields
    changes = [
        (before, after)
        for version in facts.versions
        for collection, key, before, after in version["changes"]
        if collection == "endpoints" and key == operation.key
    ]
    if path.endswith("/matrix/"):
        # A click that lets nobody's token in, or anybody write, is asked about. Others are the choice.
        return "confirmed" in fields or not (operation.writes or caller == NOBODY)
    if path.endswith("/versions/undo/"):
        return "confirmed" in fields or not operation.writes
    if path.endswith((f"/endpoint/{operation.id}/change/", f"/optionset/{operation.id}/change/")):
        open_to_all = "authentication_required" not in fields
        return "enabled" in fields and (caller != NOBODY or open_to_all)
    if path.endswith(("/endpoint/add/", "/optionset/add/", "/expose/", "/queries/new/")):
        return any(before is None for before, _after in changes)
    if path.endswith(("/endpoint/", "/optionset/")):
        return str(operation.id) in fields.get("_selected_action", ()) and bool(fields.get("action"))
    return form.tells_plan and "/delete/" not in path
