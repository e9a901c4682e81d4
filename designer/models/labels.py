"""What models and their fields are called in the studio, in the language of who reads it.

Django derives these names from the code, in English. Written into the models they would be part of the
migrations; here they are not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.db import models
from django.utils.translation import gettext_lazy as _

_FIELDS: Mapping[str, Any] = {
    "all_records": _("all records"),
    "apply_row_rules": _("apply row rules"),
    "attribute": _("attribute"),
    "authentication_required": _("authentication required"),
    "caller_types": _("caller types"),
    "description": _("description"),
    "enabled": _("enabled"),
    "entity": _("entity"),
    "expression": _("expression"),
    "filter": _("filter"),
    "first": _("first"),
    "kind": _("kind"),
    "label": _("label"),
    "maximum": _("maximum"),
    "message": _("message"),
    "minimum": _("minimum"),
    "module": _("module"),
    "name": _("name"),
    "nullable": _("nullable"),
    "pattern": _("pattern"),
    "platform_roles": _("platform roles"),
    "position": _("position"),
    "query": _("query"),
    "rate": _("requests a minute"),
    "relationship": _("relationship"),
    "required": _("required"),
    "roles": _("roles"),
    "row_rule": _("row rule"),
    "segment": _("segment"),
    "source": _("source"),
    "status": _("status"),
    "title": _("title"),
    "type": _("type"),
    "user": _("user"),
}
# Singular and plural, by the name of the class.
_MODELS: Mapping[str, tuple[Any, Any]] = {
    "ApiAccount": (_("API account"), _("API accounts")),
    "ApiKey": (_("API key"), _("API keys")),
    "Binding": (_("entity property"), _("entity properties")),
    "CallerType": (_("caller type"), _("caller types")),
    "Column": (_("column"), _("columns")),
    "Endpoint": (_("endpoint"), _("endpoints")),
    "EndpointRole": (_("role of an endpoint"), _("roles of endpoints")),
    "ExposedEntity": (_("entity"), _("entities")),
    "Fetcher": (_("data fetcher"), _("data fetchers")),
    "Input": (_("input"), _("inputs")),
    "Module": (_("module"), _("modules")),
    "OptionSet": (_("option set"), _("option sets")),
    "Precondition": (_("pre-condition"), _("pre-conditions")),
    "ProposalKey": (_("proposal key"), _("proposal keys")),
    "Protection": (_("protection"), _("protections")),
    "RelatedColumn": (_("column"), _("columns")),
    "RowRuleEntry": (_("entry of the row rule"), _("row rule")),
    "Role": (_("role"), _("roles")),
    # Django's accounts. Those of the API are users, too, and have a model of their own beside it.
    "User": (_("studio account"), _("studio accounts")),
    "UserProperty": (_("user property"), _("user properties")),
}


def label(model_classes: Iterable[type[models.Model]]) -> None:
    """Give models and fields that the studio shows their names. What is named already keeps its name."""
    for model in model_classes:
        names = _MODELS.get(model.__name__)
        if names is None:
            continue
        model._meta.verbose_name, model._meta.verbose_name_plural = names
        fields: list[Any] = [*model._meta.local_fields, *model._meta.local_many_to_many]
        for field in fields:
            # Django sets `verbose_name` itself; `_verbose_name` is what the model says.
            if field._verbose_name is None and field.name in _FIELDS:
                field.verbose_name = _FIELDS[field.name]
