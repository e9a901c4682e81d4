"""The actions on options: insert, update, order, delete; and those of states and statuses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from crmbox.metadata import Change, change
from crmbox.webapi.errors import bad_payload
from crmbox.webapi.metadata.bodies import Body, next_value
from crmbox.webapi.metadata.label_bodies import merged_label
from crmbox.webapi.metadata.metadata_post import body_of
from crmbox.webapi.request import Request, Response, json_response, no_content
from crmbox.webapi.routing import named
from crmclient.errors import InvalidDefinition
from crmclient.metadata import AttributeType, Option, OptionSet

Edit: TypeAlias = Callable[[list[Option]], list[Option]]
"""Returns the options after a change, from those before. Raises InvalidDefinition."""


@named("InsertOptionValue", "POST")
def insert(request: Request) -> Response:
    """Add an option to an option set, and answer with its value."""
    body = body_of(request)
    target = _target(request, body)
    value = _free_value(body, target.options.options)
    option = Option(value, body.label("Label"), body.text("Color") or None)
    target.edit(lambda options: [*options, option])
    return _new_value_response(request, "InsertOptionValue", value)


@named("InsertStatusValue", "POST")
def insert_status(request: Request) -> Response:
    """Add an option to a status attribute, for one of its states, and answer with its value."""
    body = body_of(request)
    target = _target(request, body)
    state = body.whole("StateCode")
    if target.type is not AttributeType.STATUS or state is None:
        raise bad_payload("InsertStatusValue needs a status attribute and a StateCode.")
    value = _free_value(body, target.options.options)
    option = Option(value, body.label("Label"), body.text("Color") or None, state=state)
    target.edit(lambda options: [*options, option])
    return _new_value_response(request, "InsertStatusValue", value)


@named("UpdateOptionValue", "POST")
@named("UpdateStateValue", "POST")
def update(request: Request) -> Response:
    """Change the label and color of an option and, for a state, the default status of its records."""
    body = body_of(request)
    value = _required_value(body)
    keep = body.flag("MergeLabels", default=False)

    def changed(option: Option) -> Option:
        """Return an option with what the body has of it."""
        if "Label" in body:
            option = replace(option, label=merged_label(option.label, body.label("Label"), keep=keep))
        if "Color" in body:
            option = replace(option, color=body.text("Color"))
        if "DefaultStatusCode" in body:
            option = replace(option, default_status=body.whole("DefaultStatusCode"))
        return option

    def edited(options: list[Option]) -> list[Option]:
        """Return the options with the one of this value changed."""
        return [
            changed(option) if option.value == value else option
            for option in _checked_to_have(options, value)
        ]

    _target(request, body).edit(edited)
    return no_content()


@named("DeleteOptionValue", "POST")
def delete(request: Request) -> Response:
    """Remove an option from an option set."""
    body = body_of(request)
    value = _required_value(body)
    _target(request, body).edit(
        lambda options: [option for option in _checked_to_have(options, value) if option.value != value]
    )
    return no_content()


@named("OrderOption", "POST")
def order(request: Request) -> Response:
    """Put the options of an option set in the order of the body, which has the value of each of them."""
    body = body_of(request)
    values = body.values.get("Values")
    target = _target(request, body)
    options_by_value = {option.value: option for option in target.options.options}
    if not isinstance(values, list) or sorted(options_by_value) != sorted(
        v for v in values if type(v) is int
    ):
        raise bad_payload("Values lists the value of every option once, in the new order.")
    target.edit(lambda _: [options_by_value[value] for value in values])
    return no_content()


@named("PublishXml", "POST")
@named("PublishAllXml", "POST")
def publish(request: Request) -> Response:
    """Answer that all is published: changes of the metadata take effect at once."""
    return no_content()


@dataclass(frozen=True, slots=True)
class _Target:
    """The option set to change: a global one if `entity` is None, else that of an attribute."""

    entity: str | None
    name: str
    options: OptionSet
    type: AttributeType

    def edit(self, edit: Edit) -> None:
        """Store the option set with what `edit` makes of its options."""
        with change() as metadata:
            after = replace(self.options, options=tuple(edit(list(self.options.options))))
            self._put(metadata, after)

    def _put(self, metadata: Change, after: OptionSet) -> None:
        """Store the changed option set: by itself, or with the attribute that it belongs to."""
        if self.entity is None:
            metadata.alter_option_set(after)
            return
        before = metadata.snapshot.entity(self.entity).columns[self.name].attribute
        metadata.alter_attribute(self.entity, replace(before, options=after))


def _target(request: Request, body: Body) -> _Target:
    """Return the option set that a body names.

    Raises WebApiError, UnknownEntity, UnknownOptionSet and InvalidDefinition.
    """
    snapshot = request.model.snapshot
    global_name = body.text("OptionSetName")
    if global_name:
        option_set = snapshot.global_option_set(global_name.lower())
        return _Target(None, option_set.name, option_set, AttributeType.PICKLIST)
    entity, name = body.needed("EntityLogicalName"), body.needed("AttributeLogicalName")
    column = snapshot.entity(entity).columns.get(name)
    if column is None or not column.attribute.type.has_options:
        raise InvalidDefinition(f"{entity} has no choice attribute {name!r}.")
    options = snapshot.options_of(column.attribute)
    if options.entity is None:
        return _Target(None, options.name, options, AttributeType.PICKLIST)
    return _Target(entity, name, options, column.attribute.type)


def _free_value(body: Body, options: Sequence[Option]) -> int:
    """Return the value of a new option: the one in the body, or else the next free one."""
    value = body.whole("Value")
    return next_value(list(options)) if value is None else value


def _required_value(body: Body) -> int:
    """Return the value of the option that an action is about. Raises WebApiError without it."""
    value = body.whole("Value")
    if value is None:
        raise bad_payload("The parameter 'Value' is needed.")
    return value


def _checked_to_have(options: list[Option], value: int) -> list[Option]:
    """Return the options. Raises InvalidDefinition if none has the value."""
    if all(option.value != value for option in options):
        raise InvalidDefinition(f"There is no option with the value {value}.")
    return options


def _new_value_response(request: Request, action: str, value: int) -> Response:
    """Answer with the value of a new option. `action` names the type of the answer."""
    context = f"{request.base}$metadata#Microsoft.Dynamics.CRM.{action}Response"
    return json_response({"@odata.context": context, "NewOptionValue": value})
