"""Labels of options, in the language that a caller asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crmclient import Platform
from crmclient.metadata import ENGLISH, OptionSet


class OptionLabels:
    """The labels of one option set. Without one, because nobody may read it, every label is None.

    Labels are cached only in languages that the option set has, because callers choose the language.
    """

    def __init__(self, option_set: OptionSet | None, platform: Platform) -> None:
        self._options = option_set.options if option_set else ()
        self._languages = option_set.languages if option_set else frozenset()
        self._base_language = platform.languages()[0]
        self._by_language: dict[int, Mapping[int, str]] = {}

    def of(self, value: Any, lcid: int) -> Any:
        """Return the label of an option, or the labels of several options.

        The label is None for a value that is no option any more.
        """
        texts = self._texts(lcid if lcid in self._languages else ENGLISH)
        if isinstance(value, tuple):
            return [texts.get(item) for item in value]
        return texts.get(value)

    def _texts(self, lcid: int) -> Mapping[int, str]:
        """Return the label of each option in a language, by value. It is made once."""
        texts = self._by_language.get(lcid)
        if texts is None:
            texts = self._by_language[lcid] = {
                option.value: option.label.text(lcid, self._base_language) for option in self._options
            }
        return texts
