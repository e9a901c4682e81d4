"""The sections of an endpoint's page, in their order, whichever of them its kind has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from designer.studio.located_findings import Located

_ORDER = (
    *("endpoint", "documentation", "settings", "inputs", "columns", "fetchers"),
    *("access", "preconditions", "limits", "caching"),
)


class _RowsTexts(NamedTuple):
    """The title of a section of rows, what the section is for, and what to do while it is empty."""

    title: Promise | str
    intro: Promise | str
    empty: Promise | str


# By the prefix of the rows.
_TEXTS_OF_ROWS = {
    "inputs": _RowsTexts(
        _("Inputs"),
        _("What callers may send."),
        _("None yet. Add them from attributes: names, types and lengths come with them."),
    ),
    "columns": _RowsTexts(
        _("Columns"),
        _("What callers get."),
        _("None yet. Add those that callers should see."),
    ),
    "fetchers": _RowsTexts(
        _("Data fetchers"),
        _("Rows that are looked up first, for @fetch.… values."),
        _("There is no data fetcher. Add one if a value or a rule depends on another record."),
    ),
    "preconditions": _RowsTexts(
        _("Pre-conditions"),
        _("What must be true before a call is carried out."),
        _("There is no pre-condition: every call with valid inputs is carried out."),
    ),
}
# The title and purpose of the section of inputs whose entity properties stand beside them.
_INPUTS_WITH_BINDINGS = (_("Inputs and entity properties"), _("What callers may send, and what is written."))
# What to do where there are no inputs: those of a query are its parameters, which no attributes stand for.
_NO_PARAMETERS = _("None yet. Each @parameter of the query needs an input of its name.")
# What callers of a query get while it has no columns of its own here.
_COLUMNS_OF_QUERY = _("Callers get the columns of the query. Columns that you add here replace them.")
# The title of the section inside a row that holds records, and what to do while it is empty.
_TEXTS_OF_ITEMS = (
    _("Inputs of each item"),
    _("None yet. Choose the relationship, then add them from attributes."),
)


@dataclass(frozen=True)
class PageSection:
    """A section of the page: a `fieldset`, or the rows of an `inline`, which `rows` then names.

    `intro` says what the section is for, and `empty` what to do while it has no rows. `bindings` are the rows
    of the entity properties that stand beside `inline`, the rows of inputs. `located` are the findings in the
    section.
    """

    anchor: str
    title: str | Promise
    intro: str | Promise = ""
    empty: str | Promise = ""
    fieldset: Any = None
    inline: Any = None
    rows: str = ""
    bindings: Any = None
    located: list[Located] = field(default_factory=list)

    @property
    def blocking_count(self) -> int:
        return sum(item.finding.is_blocking for item in self.located)

    @property
    def warning_count(self) -> int:
        return len(self.located) - self.blocking_count


def section(title: str | Promise, anchor: str, *fields: str | tuple[str, ...]) -> tuple[Any, Any]:
    """Return a fieldset of the page as the admin expects it."""
    return title, {"fields": list(fields), "classes": [anchor]}


def page_sections(
    fieldsets: Iterable[Any],
    inlines: Iterable[Any],
    located: Sequence[Located],
    *,
    shared_by: str = "",
    asks_query: bool = False,
) -> list[Any]:
    """Return the sections of a page in their order, each with the findings that belong to it.

    `fieldsets` are named by their first class, inlines by their prefix. `shared_by` says who shares cached
    answers. `asks_query`: the endpoint returns what a query of its own finds.
    """
    by_anchor = {}
    for fieldset in fieldsets:
        anchor = fieldset.classes.split()[0] if fieldset.classes else "endpoint"
        intro = shared_by if anchor == "caching" else fieldset.description or ""
        by_anchor[anchor] = PageSection(anchor, fieldset.name, intro, fieldset=fieldset)
    by_prefix = {inline.formset.prefix: inline for inline in inlines}
    # Entity properties have no section of their own.
    bindings = by_prefix.pop("bindings", None)
    for prefix, inline in by_prefix.items():
        texts = _TEXTS_OF_ROWS.get(prefix, _RowsTexts(inline.opts.verbose_name_plural, "", ""))
        section = PageSection(prefix, *texts, inline=inline, rows=prefix)
        if prefix == "inputs" and bindings is not None:
            title, intro = _INPUTS_WITH_BINDINGS
            section = replace(section, title=title, intro=intro, bindings=bindings)
        elif prefix == "inputs":
            section = replace(section, empty=_NO_PARAMETERS)
        elif prefix == "columns" and asks_query:
            section = replace(section, empty=_COLUMNS_OF_QUERY)
        by_anchor[prefix] = section
    sections = sorted(by_anchor.values(), key=lambda section: _position_on_page(section.anchor))
    for section in sections:
        is_in_section = _places_of(section)
        section.located.extend(item for item in located if is_in_section(item.place))
    return sections


def item_section(items: Iterable[Any]) -> PageSection:
    """Return the section of the items inside the row of a list.

    `items` are two formsets as `ItemRows` makes them: of the inputs, and of the bindings.
    """
    inputs, bindings = items
    title, empty = _TEXTS_OF_ITEMS
    return PageSection(
        inputs.formset.prefix, title, empty=empty, inline=inputs, rows="inputs", bindings=bindings
    )


def _position_on_page(anchor: str) -> int:
    return _ORDER.index(anchor) if anchor in _ORDER else len(_ORDER)


def _places_of(section: PageSection) -> Callable[[str], bool]:
    """Return whether the section has the place of a finding, as a function of the place.

    A place is the name of a field on the page, or `#` and the prefix of rows for a finding about all of them.
    """
    if section.inline is not None:
        inlines = [inline for inline in (section.inline, section.bindings) if inline is not None]
        prefixes = [inline.formset.prefix for inline in inlines]
        beginnings = tuple(f"{prefix}-" for prefix in prefixes)
        whole = {f"#{prefix}" for prefix in prefixes}
        return lambda place: place.startswith(beginnings) or place in whole
    names = {
        cell.field["name"] if cell.is_readonly else cell.field.name
        for line in section.fieldset
        for cell in line
    }
    return names.__contains__
