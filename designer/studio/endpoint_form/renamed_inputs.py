"""A page on which an input is renamed: what refers to the input by its old name follows in the same save."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from django.http import QueryDict

from designer.models import Binding, Endpoint, Input

# In an expression: a text in quotes, which is left alone, or an input that is read, such as `input.name`.
_IN_EXPRESSION = re.compile(r"""("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|(?<![\w.])input\.([A-Za-z_]\w*)""")
# A parameter is the whole value of a condition.
_IN_QUERY = re.compile(r"""(?<=["'>])@([A-Za-z_]\w*)(?=["'<])""")
_EXPRESSION = re.compile(r"(preconditions|columns)-\d+-expression")
_QUERY = re.compile(r"fetchers-\d+-query|row_rule|settings__query")

NewNames = Mapping[str, str]
"""The new names of renamed inputs, by their old names."""


def with_renamed_inputs(data: QueryDict, row: Endpoint) -> QueryDict:
    """Return the page's form `data` in which the uses of renamed inputs have the new names.

    `row` is the endpoint as stored, with the old names. A binding that was changed on the page itself stays
    as it was written. Uses stay, too, when a new input has taken the old name, or two inputs have the new
    name: such a page is refused anyway.
    """
    renamed = _new_names(data, "inputs", dict(row.inputs.filter(parent=None).values_list("pk", "name")))
    nested = list(_new_names_in_lists(data, row))
    if not renamed and not any(names for _, names in nested):
        return data
    changed = data.copy()
    stored = {str(binding.pk): binding for binding in row.bindings.all()}
    for prefix, names in [("bindings", renamed), *nested]:
        _rename_bindings(changed, prefix, names, stored)
    for name in list(changed) if renamed else ():
        if _EXPRESSION.fullmatch(name):
            changed[name] = _rename_in_expression(str(changed[name]), renamed)
        elif _QUERY.fullmatch(name):
            changed[name] = _IN_QUERY.sub(
                lambda match: f"@{renamed.get(match[1], match[1])}", str(changed[name])
            )
    return changed


def _new_names_in_lists(data: QueryDict, row: Endpoint) -> Iterator[tuple[str, NewNames]]:
    """Yield, for each input that is a list, the form prefix of its items' bindings and the new names of its
    items' inputs.
    """
    lists = row.inputs.exclude(inputs=None).distinct()
    lists_by_pk: dict[str, Input] = {
        str(list_input.pk): list_input for list_input in lists.prefetch_related("inputs")
    }
    for prefix, pk in _kept_rows(data, "inputs"):
        if pk in lists_by_pk:
            names = {item_input.pk: item_input.name for item_input in lists_by_pk[pk].inputs.all()}
            yield f"{prefix}-properties", _new_names(data, f"{prefix}-items", names)


def _kept_rows(data: QueryDict, prefix: str) -> Iterator[tuple[str, str]]:
    """Yield the form prefix and the id of each row that is not marked for deletion.

    A new row has an empty id.
    """
    for name in data:
        if re.fullmatch(rf"{re.escape(prefix)}-\d+-id", name):
            row = name.removesuffix("-id")
            if not data.get(f"{row}-DELETE"):
                yield row, str(data[name])


def _new_names(data: QueryDict, prefix: str, names_by_pk: Mapping[int, str]) -> dict[str, str]:
    """Return the new names of the inputs in form rows with `prefix`. `names_by_pk` are their stored names."""
    rows = [(pk, data.get(f"{row}-name", "").strip()) for row, pk in _kept_rows(data, prefix)]
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
    for row, pk in _kept_rows(data, prefix):
        field = f"{row}-value_text"
        # Browsers end lines with CR and LF.
        binding, text = stored.get(pk), data.get(field, "").replace("\r\n", "\n")
        if binding is None or text != binding.value:
            continue
        source = data.get(f"{row}-source")
        rename: Callable[[str, NewNames], str] | None = {
            "input": _rename_name,
            "expression": _rename_in_expression,
        }.get(source or "")
        if rename is not None:
            data[field] = rename(text, names)


def _rename_name(name: str, names: NewNames) -> str:
    return names.get(name, name)


def _rename_in_expression(text: str, names: NewNames) -> str:
    """Return the expression with the new names of the inputs that it reads as `input.<name>`."""

    def replaced(match: re.Match[str]) -> str:
        # None where a text in quotes was found.
        name = match[2]
        return match[0] if name is None else f"input.{names.get(name, name)}"

    return _IN_EXPRESSION.sub(replaced, text)
