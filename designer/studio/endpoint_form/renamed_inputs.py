"""A page on which an input is renamed: what refers to the input by its old name follows in the same save."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from django.http import QueryDict

from designer.models import Binding, Endpoint, Input

# A text in an expression, which is left alone, or what an expression reads of an input.
_IN_EXPRESSION = re.compile(r"""("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|(?<![\w.])input\.([A-Za-z_]\w*)""")
# A parameter is the whole value of a condition.
_IN_QUERY = re.compile(r"""(?<=["'>])@([A-Za-z_]\w*)(?=["'<])""")
_EXPRESSION = re.compile(r"(preconditions|columns)-\d+-expression")
_QUERY = re.compile(r"fetchers-\d+-query|row_rule|settings__query")

Names = Mapping[str, str]


def with_renamed_inputs(data: QueryDict, row: Endpoint) -> QueryDict:
    """`data` as it was sent of the page of `row`, with the uses of renamed inputs following the new names.

    A binding that was changed on the page itself stays as it was written. So do all uses, where a new input
    has taken the old name, or another input has the new one as well: such a page is refused.
    """
    renamed = _renamed(data, "inputs", dict(row.inputs.filter(parent=None).values_list("pk", "name")))
    nested = list(_nested(data, row))
    if not renamed and not any(names for _, names in nested):
        return data
    changed = data.copy()
    stored = {str(one.pk): one for one in row.bindings.all()}
    for prefix, names in [("bindings", renamed), *nested]:
        _rename_bindings(changed, prefix, names, stored)
    for name in list(changed) if renamed else ():
        if _EXPRESSION.fullmatch(name):
            changed[name] = _in_expression(str(changed[name]), renamed)
        elif _QUERY.fullmatch(name):
            changed[name] = _IN_QUERY.sub(
                lambda found: f"@{renamed.get(found[1], found[1])}", str(changed[name])
            )
    return changed


def _nested(data: QueryDict, row: Endpoint) -> Iterator[tuple[str, Names]]:
    """The prefix of the properties of each list's items, with the renamed inputs of these items."""
    lists = row.inputs.exclude(inputs=None).distinct()
    known: dict[str, Input] = {str(one.pk): one for one in lists.prefetch_related("inputs")}
    for prefix, pk in _rows(data, "inputs"):
        if pk in known:
            names = {one.pk: one.name for one in known[pk].inputs.all()}
            yield f"{prefix}-properties", _renamed(data, f"{prefix}-items", names)


def _rows(data: QueryDict, prefix: str) -> Iterator[tuple[str, str]]:
    """The prefix and the row's id, empty for a new one, of each row that stays."""
    for name in data:
        if re.fullmatch(rf"{re.escape(prefix)}-\d+-id", name):
            row = name.removesuffix("-id")
            if not data.get(f"{row}-DELETE"):
                yield row, str(data[name])


def _renamed(data: QueryDict, prefix: str, known: Mapping[int, str]) -> dict[str, str]:
    """The new names of inputs by their old ones."""
    rows = [(pk, data.get(f"{row}-name", "").strip()) for row, pk in _rows(data, prefix)]
    old = {str(pk): name for pk, name in known.items()}
    taken = {name for pk, name in rows if old.get(pk) in (None, name)}
    given = Counter(name for _, name in rows)
    return {
        old[pk]: name
        for pk, name in rows
        if pk in old and name and name != old[pk] and old[pk] not in taken and given[name] == 1
    }


def _rename_bindings(data: QueryDict, prefix: str, names: Names, stored: Mapping[str, Binding]) -> None:
    for row, pk in _rows(data, prefix):
        field = f"{row}-value_text"
        known, text = stored.get(pk), data.get(field, "")
        if known is None or text != known.value:
            continue
        source = data.get(f"{row}-source")
        rename: Callable[[str, Names], str] | None = {"input": _name, "expression": _in_expression}.get(
            source or ""
        )
        if rename is not None:
            data[field] = rename(text, names)


def _name(text: str, names: Names) -> str:
    return names.get(text, text)


def _in_expression(text: str, names: Names) -> str:
    def replaced(found: re.Match[str]) -> str:
        name = found[2]
        return found[0] if name is None else f"input.{names.get(name, name)}"

    return _IN_EXPRESSION.sub(replaced, text)
