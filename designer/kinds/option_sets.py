"""Option sets: the choices of a global option set, or of an attribute of an exposed entity."""

from __future__ import annotations

from types import MappingProxyType
from typing import Annotated, ClassVar, Literal

from django.utils.translation import gettext_noop as _
from pydantic import Field

from crmclient.query.other_attributes import AttributeChange, ChangedKeys
from designer.definition import Definition, SetOf
from designer.kinds.effects import Effect, Told
from designer.kinds.operation_kind import OperationKind, Place, Scope
from designer.kinds.pickers import OPTION_SET
from designer.kinds.settings import EndpointSettings

# What a filter's expression sees of an option.
FILTER_NAMES = ("value", "label", "color", "state")


_MODES = MappingProxyType(
    {
        "all": "All",
        "keep": _("Only these values"),
        "leave_out": _("All but these values"),
        "expression": _("Options for which the expression is true"),
    }
)


class OptionFilter(Definition):
    """Which options are served: all, only `values`, all but `values`, or those that `expression` is true of.

    The expression (CEL) sees `value`, `label` (English), `color` and `state`.
    """

    mode: Annotated[Literal["all", "keep", "leave_out", "expression"], _MODES] = Field(
        "all", title=_("Options"), description=_("Which options of the option set are served.")
    )
    values: SetOf[int] = Field(
        (),
        title=_("Values"),
        description=_("Only needed to filter by values: the option values, separated by commas."),
    )
    expression: str = Field(
        "",
        title=_("Expression"),
        description=_(
            "Only needed to filter by expression: a CEL expression over value, label, color "
            "and state, such as value < 100."
        ),
    )


class OptionSetSettings(EndpointSettings):
    """`option_set` is the global option set's name or, for a local one, the attribute's logical name.

    Inactive options are hidden ones and, for a status attribute, those of an inactive state.
    """

    answers_records: ClassVar[bool] = False

    option_set: Annotated[str, OPTION_SET, Told(_("option set"), Effect.BREAKING)] = Field(
        "", title=_("Option set"), description=_("The option set whose options are served.")
    )
    include_inactive: bool = Field(
        False,
        title=_("Include inactive options"),
        description=_("Serve hidden options and the options of inactive states, too."),
    )
    filter: OptionFilter = OptionFilter()

    @property
    def platform_name(self) -> str:
        """The name of the option set or, for a local one, of its attribute."""
        return self.option_set

    @property
    def own_attributes(self) -> tuple[str, ...]:
        """The attribute of a local option set. The name of a global one means no attribute: such an endpoint
        has no exposed entity.
        """
        return (self.option_set,) if self.option_set else ()

    def with_attribute(self, entity: str, change: AttributeChange) -> tuple[EndpointSettings, ChangedKeys]:
        """Return the settings with the attribute after the change, and no changed keys of a query."""
        # The change knows its entity: it leaves a global option set, which is of none, as it is.
        return self.model_copy(update={"option_set": change.name(entity, self.option_set)}), {}


GLOBAL_OPTION_SET = OperationKind(
    name="option-set",
    label=_("Option set"),
    summary=_("Lists the options of a global option set."),
    scope=Scope.GLOBAL,
    methods=("GET",),
    path="/optionsets/{name}",
    settings=OptionSetSettings,
    public=True,
    place=Place.OPTION_SETS,
)

LOCAL_OPTION_SET = OperationKind(
    name="local-option-set",
    label=_("Local option set"),
    summary=_("Lists the options of one attribute."),
    scope=Scope.ENTITY,
    methods=("GET",),
    path="/{module}/{segment}/optionsets/{name}",
    settings=OptionSetSettings,
    public=True,
    place=Place.OPTION_SETS,
)
