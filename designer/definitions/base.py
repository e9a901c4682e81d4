"""What all definitions share: immutable, strict about unknown keys, with a JSON form that omits defaults."""

from __future__ import annotations

from typing import Any, TypeAlias

from pydantic import BaseModel, ConfigDict

JsonValue: TypeAlias = Any


class Definition(BaseModel):
    """A value of the configuration. Two with the same content are equal."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=False, str_strip_whitespace=False)

    def to_json(self) -> dict[str, Any]:
        """The JSON form: what equals its default is left out, so that documents stay readable."""
        return self.model_dump(mode="json", exclude_defaults=True)
