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

_PARTS: dict[str, type[Definition]] = {
    "inputs": InputDefinition,
    "bindings": BindingDefinition,
    "columns": ColumnDefinition,
    "fetchers": FetcherDefinition,
    "preconditions": PreconditionDefinition,
}
_OWN = frozenset(
    {
        *("kind", "segment", "name", "title", "description", "translations", "enabled", "row_rule"),
        "settings",
    }
)


def with_draft(
    configuration: Configuration, form: ModelForm[Endpoint], formsets: Iterable[BaseFormSet[Any]]
) -> Configuration:
    """Return `configuration` with an endpoint as the form on its page has it, which is bound.

    Fields that cannot be read are as they were; an endpoint that cannot be read at all says why, as
    `Endpoint.problem`.
    """
    form.is_valid()
    row = form.instance
    endpoint = configuration.endpoints[row.pk]
    data: dict[str, Any] = {name: getattr(row, name) for name in _OWN}
    data |= {"module": endpoint.definition.module, "exposure": endpoint.definition.exposure}
    data["access"] = {
        "authentication_required": row.authentication_required,
        "caller_types": row.caller_types,
        "roles": sorted(role.name for role in form.cleaned_data.get("callers", ())),
    }
    data["acknowledgements"] = endpoint.definition.acknowledgements
    data["example_calls"] = endpoint.definition.example_calls
    data |= {
        formset.prefix: _parts(formset, formset.prefix) for formset in formsets if formset.prefix in _PARTS
    }
    lists = {made.name: made for made in endpoint.definition.inputs if made.inputs or made.bindings}
    for made in data.get("inputs", ()):
        if made["name"] in lists and "inputs" not in made:
            # What was sent without them leaves them as they are.
            made |= {"inputs": lists[made["name"]].inputs, "bindings": lists[made["name"]].bindings}
    try:
        draft = replace(endpoint, definition=EndpointDefinition.model_validate(data), problem=None)
    except ValidationError as error:
        places = (".".join(str(step) for step in problem["loc"]) for problem in error.errors())
        draft = replace(endpoint, problem="; ".join(places))
    return replace(configuration, endpoints=MappingProxyType({**configuration.endpoints, row.pk: draft}))


def _parts(formset: BaseFormSet[Any], section: str) -> list[dict[str, Any]]:
    """Return the rows of a formset as they stand on the page, in their order, as the JSON of definitions."""
    formset.is_valid()
    forms = [form for form in formset.forms if not is_removed(form)]
    names = _PARTS[section].model_fields.keys() - {"inputs", "bindings"}

    def place(form: Any) -> int:
        return form.instance.position if form.instance.pk or form.instance.position else len(forms)

    return [
        {
            **{name: getattr(form.instance, name) for name in names},
            **{inner: _parts(items, inner) for inner, items in item_formsets(form).items()},
        }
        for form in sorted(forms, key=place)
    ]
