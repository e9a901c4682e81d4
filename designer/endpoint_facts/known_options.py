"""The options of a choice attribute, as far as the service's own account may read them."""

from __future__ import annotations

from typing import Protocol

from crmclient.errors import MissingPrivilege, UnknownOptionSet
from crmclient.metadata import Attribute, OptionSet


class OptionSets(Protocol):
    """The global option sets of a platform, or what readiness knows of them."""

    def option_set(self, name: str, /) -> OptionSet | None: ...


def known_options(attribute: Attribute, option_sets: OptionSets) -> OptionSet | None:
    """Return the option set of a choice attribute, its own or a global one. None for another attribute, and
    where the service's own account may not read options: then the platform alone knows them.
    """
    if attribute.options is not None or attribute.option_set is None:
        return attribute.options
    try:
        return option_sets.option_set(attribute.option_set)
    except (MissingPrivilege, UnknownOptionSet):
        return None
