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

NewNames = Mapping[str, str]


def with_renamed_inputs(data: QueryDict, row: Endpoint) -> QueryDict:
    """Return the page's form `data` in which the uses of renamed inputs have the new names.

    `row` is the endpoint as stored, with the old names. A binding that was changed on the page itself stays
    as it was written. Uses stay, too, when a new input has taken the old name, or two inputs have the new
    name: such a page is refused anyway.
    """
    renamed = _renamed(data, "inputs", dict(row.inputs.filter(parent=None).values_list("pk", "name")))
    nested = list(_nested(data, row))
    if not renamed and not any(names for _, names in nested):
        return data
    changed = data.copy()
    stored = {str(binding.pk): binding for binding in row.bindings.all()}
    for prefix, names in [("bindings", renamed), *nested]:
        _rename_bindings(changed, prefix, names, stored)
    for name in list(changed) if renamed else ():
        if _EXPRESSION.fullmatch(name):
            changed[name] = _in_expression(str(changed[name]), renamed)
        elif _QUERY.fullmatch(name):
            changed[name] = _IN_QUERY.sub(
                lambda match: f"@{renamed.get(match[1], match[1])}", str(changed[name])
            )
    return changed


def _nested(data: QueryDict, row: Endpoint) -> Iterator[tuple[str, NewNames]]:
    """Yield the renamed item inputs of each input that is a list.

    Each result is the form prefix of the bindings of the list's items, and the new names by the old ones.
    """
    lists = row.inputs.exclude(inputs=None).distinct()
    lists_by_pk: dict[str, Input] = {
        str(list_input.pk): list_input for list_input in lists.prefetch_related("inputs")
    }
    for prefix, pk in _rows(data, "inputs"):
        if pk in lists_by_pk:
            names = {item_input.pk: item_input.name for item_input in lists_by_pk[pk].inputs.all()}
            yield f"{prefix}-properties", _renamed(data, f"{prefix}-items", names)


def _rows(data: QueryDict, prefix: str) -> Iterator[tuple[str, str]]:
    """Yield the form prefix and the id of each row that is not marked for deletion.

    A new row has an empty id.
    """
    for name in data:
        if re.fullmatch(rf"{re.escape(prefix)}-\d+-id", name):
            row = name.removesuffix("-id")
            if not data.get(f"{row}-DELETE"):
                yield row, str(data[name])


def _renamed(data: QueryDict, prefix: str, names_by_pk: Mapping[int, str]) -> dict[str, str]:
    """Return the new names of renamed inputs by their old names. `prefix` is the one of their form rows."""
    rows = [(pk, data.get(f"{row}-name", "").strip()) for row, pk in _rows(data, prefix)]
    old = {str(pk): name for pk, name in names_by_pk.items()}
    # Those of new rows, which have no old name, and of rows that keep theirs.
    names_in_use = {name for pk, name in rows if old.get(pk) in (None, name)}
    name_counts = Counter(name for _, name in rows)
    return {
        old[pk]: name
        for pk, name in rows
        if pk in old and name and name != old[pk] and old[pk] not in names_in_use and name_counts[name] == 1
    }


def _rename_bindings(data: QueryDict, prefix: str, names: NewNames, stored: Mapping[str, Binding]) -> None:
    """Put the new names into the bindings in `data` that still have their stored value."""
    for row, pk in _rows(data, prefix):
        field = f"{row}-value_text"
        binding, text = stored.get(pk), data.get(field, "")
        if binding is None or text != binding.value:
            continue
        source = data.get(f"{row}-source")
        rename: Callable[[str, NewNames], str] | None = {"input": _name, "expression": _in_expression}.get(
            source or ""
        )
        if rename is not None:
            data[field] = rename(text, names)


def _name(text: str, names: NewNames) -> str:
    return names.get(text, text)


def _in_expression(text: str, names: NewNames) -> str:
    def replaced(match: re.Match[str]) -> str:
        name = match[2]
        return match[0] if name is None else f"input.{names.get(name, name)}"

    return _IN_EXPRESSION.sub(replaced, text)
