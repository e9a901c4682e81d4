"""What a setting's value is chosen from, where the platform's metadata knows the choices."""

from __future__ import annotations

from enum import Enum


class Picker(Enum):
    """Annotates a setting: `option_set: Annotated[str, Picker.OPTION_SET]`."""

    OPTION_SET = "option set"
    PROCESS = "process"
    FILE_COLUMN = "file column"
    RELATIONSHIP = "many-to-many relationship"
    RELATED_ENTITY = "related exposed entity"
