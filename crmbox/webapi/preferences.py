"""What a client would like: the `Prefer` header, whose values may be quoted with commas inside."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

_ITEM = re.compile(r"""\s*([^\s=,;"]+)\s*(?:=\s*(?:"([^"]*)"|([^,;\s]*)))?\s*(?:[,;]|$)""")

FORMATTED_VALUE = "OData.Community.Display.V1.FormattedValue"
LOOKUP_NAME = "Microsoft.Dynamics.CRM.lookuplogicalname"
NAVIGATION_PROPERTY = "Microsoft.Dynamics.CRM.associatednavigationproperty"


@dataclass(frozen=True)
class Preferences:
    """Preferences by lower-case name; an empty text for one without a value."""

    values: Mapping[str, str] = field(default_factory=dict)

    @property
    def wants_representation(self) -> bool:
        return self.values.get("return") == "representation"

    @property
    def continues_on_error(self) -> bool:
        return self.values.get("odata.continue-on-error", "false") in ("", "true")

    @property
    def tracks_changes(self) -> bool:
        return "odata.track-changes" in self.values

    @property
    def page_size(self) -> int | None:
        """Return `odata.maxpagesize`; None when it is absent, or no whole number above zero."""
        text = self.values.get("odata.maxpagesize") or self.values.get("maxpagesize") or ""
        # Python refuses to read very long numbers. No page has more rows than the first nine digits say.
        digits = text.lstrip("0")[:9]
        return int(digits) if digits and text.isascii() and text.isdigit() else None

    @cached_property
    def annotations(self) -> Annotations:
        return Annotations(self.values.get("odata.include-annotations", ""))


class Annotations:
    """Which annotations were asked for: names, `Prefix.*`, or `*`, separated by commas; `-` excludes."""

    def __init__(self, text: str) -> None:
        patterns = [item.strip() for item in text.split(",") if item.strip()]
        self._wanted = [item for item in patterns if not item.startswith("-")]
        self._unwanted = [item[1:] for item in patterns if item.startswith("-")]
        self.formatted = self.wants(FORMATTED_VALUE)
        self.lookup_name = self.wants(LOOKUP_NAME)
        self.navigation_property = self.wants(NAVIGATION_PROPERTY)

    def __bool__(self) -> bool:
        return bool(self._wanted)

    def wants(self, name: str) -> bool:
        """Whether the annotation `name` was asked for, and not excluded."""
        return _matches(name, self._wanted) and not _matches(name, self._unwanted)


def parse_preferences(header: str) -> Preferences:
    """Read a `Prefer` header. Of a preference that is repeated the first one counts. Unknown ones are kept,
    as a server may ignore them.
    """
    preferences: dict[str, str] = {}
    joined = _annotations_joined(header)
    for match in _ITEM.finditer(joined):
        name, quoted, bare = match.groups()
        preferences.setdefault(name.lower(), quoted if quoted is not None else bare or "")
    return Preferences(preferences)


def _annotations_joined(header: str) -> str:
    """Return the header with the value of `odata.include-annotations` in quotes: some clients write
    `odata.include-annotations=a.b,c.*` without them.
    """
    return re.sub(
        r"(odata\.include-annotations\s*=\s*)([^\s\",;=]+(?:\s*,\s*-?[^\s\",;=]*[.*][^\s\",;=]*(?=\s*(?:,|;|$)))*)",
        r'\1"\2"',
        header,
        flags=re.IGNORECASE,
    )


def _matches(name: str, patterns: list[str]) -> bool:
    """Whether a name is among the patterns, each of which is a name, `Prefix.*` or `*`."""
    return any(
        pattern in ("*", name) or (pattern.endswith(".*") and name.startswith(pattern[:-1]))
        for pattern in patterns
    )
