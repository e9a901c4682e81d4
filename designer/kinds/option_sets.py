"""Option sets: the choices of a global option set, or of an attribute of an exposed entity."""

from __future__ import annotations

from typing import Literal

from designer.definitions.endpoints import EndpointSettings
from designer.kinds.base import OperationKind, Scope

# What a filter's expression sees of an option.
FILTER_NAMES = ("value", "label", "color", "state")


class OptionFilter(EndpointSettings):
    """Which options are served: all, only `values`, all but `values`, or those that `expression` is true of.

    The expression (CEL) sees `value`, `label` (English), `color` and `state`.
    """

    mode: Literal["all", "keep", "leave_out", "expression"] = "all"
    values: tuple[int, ...] = ()
    expression: str = ""


class OptionSetSettings(EndpointSettings):
    """`option_set` is the global option set's name or, for a local one, the attribute's logical name.

    Inactive options are hidden ones and, for a status attribute, those of an inactive state.
    """

    option_set: str = ""
    include_inactive: bool = False
    filter: OptionFilter = OptionFilter()


GLOBAL_OPTION_SET = OperationKind(
    name="option-set",
    label="Option set",
    summary="Lists the options of a global option set.",
    scope=Scope.GLOBAL,
    methods=("GET",),
    path="/optionsets/{name}",
    settings=OptionSetSettings,
    public=True,
)

LOCAL_OPTION_SET = OperationKind(
    name="local-option-set",
    label="Local option set",
    summary="Lists the options of one attribute.",
    scope=Scope.ENTITY,
    methods=("GET",),
    path="/{module}/{segment}/optionsets/{name}",
    settings=OptionSetSettings,
    public=True,
)
