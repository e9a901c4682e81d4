"""An endpoint as its page stands, unsaved: the definition that saving would make."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from django.forms import BaseFormSet, ModelForm
from pydantic import ValidationError

from designer.configuration import Configuration
from designer.definitions import (
    BindingDefinition,
    ColumnDefinition,
    Definition,
    EndpointDefinition,
    FetcherDefinition,
    InputDefinition,
    PreconditionDefinition,
)
from designer.models import Endpoint
from designer.studio.checking.finding_places import is_removed
from designer.studio.endpoint_form.list_rows import item_formsets

# The definition of a row, by the prefix of its formset, which is also the field of `EndpointDefinition`.
_DEFINITION_CLASSES: dict[str, type[Definition]] = {
    "inputs": InputDefinition,
    "bindings": BindingDefinition,
    "columns": ColumnDefinition,
    "fetchers": FetcherDefinition,
    "preconditions": PreconditionDefinition,
}
# The fields of `EndpointDefinition` that have the same name and value in the endpoint's row.
_FIELDS_OF_ROW = frozenset(
    {
        *("kind", "segment", "name", "title", "description", "translations", "enabled", "row_rule"),
        "settings",
    }
)


def with_draft(
    configuration: Configuration, form: ModelForm[Endpoint], formsets: Iterable[BaseFormSet[Any]]
) -> Configuration:
    """Return `configuration` with an endpoint as the forms of its page have it. `form` must be bound.

    Fields with errors keep their saved values. If no definition can be made of the page, the endpoint keeps
    the saved one, and its `problem` names the fields that stand against it.
    """
    # Called for its effect: it puts what was sent into the form's row.
    form.is_valid()
    row = form.instance
    endpoint = configuration.endpoints[row.pk]
    data: dict[str, Any] = {name: getattr(row, name) for name in _FIELDS_OF_ROW}
    data |= {"module": endpoint.definition.module, "exposure": endpoint.definition.exposure}
    data["access"] = {
        "authentication_required": row.authentication_required,
        "caller_types": row.caller_types,
        "roles": sorted(role.name for role in form.cleaned_data.get("callers", ())),
    }
    data["acknowledgements"] = endpoint.definition.acknowledgements
    data["example_calls"] = endpoint.definition.example_calls
    data |= {
        formset.prefix: _definitions_of_rows(formset, formset.prefix)
        for formset in formsets
        if formset.prefix in _DEFINITION_CLASSES
    }
    saved_lists = {
        saved.name: saved for saved in endpoint.definition.inputs if saved.inputs or saved.bindings
    }
    for data_of_input in data.get("inputs", ()):
        saved_list = saved_lists.get(data_of_input["name"])
        if saved_list is not None and "inputs" not in data_of_input:
            # The page has sent no rows for what this list of records holds: it keeps what is saved.
            data_of_input |= {"inputs": saved_list.inputs, "bindings": saved_list.bindings}
    try:
        draft = replace(endpoint, definition=EndpointDefinition.model_validate(data), problem=None)
    except ValidationError as error:
        places = (".".join(str(step) for step in problem["loc"]) for problem in error.errors())
        draft = replace(endpoint, problem="; ".join(places))
    return replace(configuration, endpoints=MappingProxyType({**configuration.endpoints, row.pk: draft}))


def _definitions_of_rows(formset: BaseFormSet[Any], section: str) -> list[dict[str, Any]]:
    """Return the rows of a formset as the page has them, in their order, as JSON of their definitions."""
    # Called for its effect: it puts what was sent into the rows of the forms.
    formset.is_valid()
    forms = [form for form in formset.forms if not is_removed(form)]
    names = _DEFINITION_CLASSES[section].model_fields.keys() - {"inputs", "bindings"}

    def position(form: Any) -> int:
        # A new row without a position comes after all others, where saving puts it.
        return form.instance.position if form.instance.pk or form.instance.position else len(forms)

    return [
        {
            **{name: getattr(form.instance, name) for name in names},
            **{inner: _definitions_of_rows(items, inner) for inner, items in item_formsets(form).items()},
        }
        for form in sorted(forms, key=position)
    ]
