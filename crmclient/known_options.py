"""The options of a choice attribute, as far as the service's own account may read them."""

from __future__ import annotations

from collections.abc import Callable

from crmclient.errors import MissingPrivilege, UnknownOptionSet
from crmclient.metadata import Attribute, OptionSet


def known_options(attribute: Attribute, find: Callable[[str], OptionSet | None]) -> OptionSet | None:
    """Return the option set of a choice attribute: its own, or the global one that `find` returns by name.

    None for another attribute, and where the set is not known here: the service's own account may not read
    it, or it has come since the last refresh. Then the platform alone knows the options.
    """
    if attribute.options is not None or attribute.option_set is None:
        return attribute.options
    try:
        return find(attribute.option_set)
    except (MissingPrivilege, UnknownOptionSet):
        return None
