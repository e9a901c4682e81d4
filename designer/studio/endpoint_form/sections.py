"""The sections of an endpoint's page, in their order, whichever of them its kind has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from designer.studio.located_findings import Located

_ORDER = (
    *("endpoint", "documentation", "settings", "inputs", "columns", "fetchers"),
    *("access", "preconditions", "limits", "caching"),
)
# Of rows: what a section is called, what it is for, and what to do while it is empty.
_ROWS: dict[str, tuple[Promise, Promise, Promise]] = {
    "inputs": (
        _("Inputs"),
        _("What callers may send."),
        _("None yet. Add them from attributes: names, types and lengths come with them."),
    ),
    "columns": (
        _("Columns"),
        _("What callers get."),
        _("None yet. Add those that callers should see."),
    ),
    "fetchers": (
        _("Data fetchers"),
        _("Rows that are looked up first, for @fetch.… values."),
        _("There is no data fetcher. Add one if a value or a rule depends on another record."),
    ),
    "preconditions": (
        _("Pre-conditions"),
        _("What must be true before a call is carried out."),
        _("There is no pre-condition: every call with valid inputs is carried out."),
    ),
}
# Of inputs whose entity properties stand beside them.
_BOUND_INPUTS = (_("Inputs and entity properties"), _("What callers may send, and what is written."))
# Of the rows inside of one that holds records.
_ITEMS = (_("Inputs of each item"), _("None yet. Choose the relationship, then add them from attributes."))


@dataclass(frozen=True)
class PageSection:
    """A fieldset, or rows: one of `fieldset` and `inline` is set; `rows` then says what they are of.

    `bound` are the rows of the entity properties that stand beside `inline`, the rows of inputs. `located`
    are the findings in it.
    """

    anchor: str
    title: str | Promise
    intro: str | Promise = ""
    empty: str | Promise = ""
    fieldset: Any = None
    inline: Any = None
    rows: str = ""
    bound: Any = None
    located: list[Located] = field(default_factory=list)

    @property
    def blocking(self) -> int:
        return sum(item.finding.is_blocking for item in self.located)

    @property
    def warnings(self) -> int:
        return len(self.located) - self.blocking


def section(title: str | Promise, anchor: str, *fields: str | tuple[str, ...]) -> tuple[Any, Any]:
    """Return a fieldset of the page as the admin expects it."""
    return title, {"fields": list(fields), "classes": [anchor]}


def page_sections(
    fieldsets: Iterable[Any], inlines: Iterable[Any], located: Iterable[Located], *, shared_by: str = ""
) -> list[Any]:
    """Return the sections of a page in their order, each with the findings that belong to it.

    `fieldsets` are named by their first class, inlines by their prefix. `shared_by` says who shares cached
    answers.
    """
    by_anchor = {}
    for fieldset in fieldsets:
        anchor = fieldset.classes.split()[0] if fieldset.classes else "endpoint"
        intro = shared_by if anchor == "caching" else fieldset.description or ""
        by_anchor[anchor] = PageSection(anchor, fieldset.name, intro, fieldset=fieldset)
    by_prefix = {inline.formset.prefix: inline for inline in inlines}
    bound = by_prefix.pop("bindings", None)
    for prefix, inline in by_prefix.items():
        title, intro, empty = _ROWS.get(prefix, (inline.opts.verbose_name_plural, "", ""))
        made = PageSection(prefix, title, intro, empty, inline=inline, rows=prefix)
        if prefix == "inputs" and bound is not None:
            title, intro = _BOUND_INPUTS
            made = replace(made, title=title, intro=intro, bound=bound)
        by_anchor[prefix] = made
    sections = sorted(by_anchor.values(), key=lambda section: _rank(section.anchor))
    for item in located:
        for section in sections:
            if _holds(section, item.place):
                section.located.append(item)
    return sections


def item_section(items: Iterable[Any]) -> PageSection:
    """The rows of items inside the row of a list: `items` as `ItemRows` makes them."""
    inputs, bindings = items
    title, empty = _ITEMS
    return PageSection(
        inputs.formset.prefix, title, empty=empty, inline=inputs, rows="inputs", bound=bindings
    )


def _rank(anchor: str) -> int:
    return _ORDER.index(anchor) if anchor in _ORDER else len(_ORDER)


def _holds(section: PageSection, place: str) -> bool:
    """Return whether a finding at `place` belongs to the section."""
    if section.inline is not None:
        prefixes = [inline.formset.prefix for inline in (section.inline, section.bound) if inline is not None]
        return place.startswith(tuple(f"{prefix}-" for prefix in prefixes)) or place in {
            f"#{prefix}" for prefix in prefixes
        }
    names = {
        bound.field["name"] if bound.is_readonly else bound.field.name
        for line in section.fieldset
        for bound in line
    }
    return place in names
