"""Form fields for what a call asks for, and for whom it is made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from crmclient import Guid
from crmclient.errors import PlatformError
from designer.ports import CallField, get_runtime
from designer.studio.look import dress

# The field of the call's file.
UPLOAD = "upload"


def field_name(call_field: CallField) -> str:
    """Return the name of the form's field for a value of the call.

    A caller may call an input “roles”: names of the call's values are kept apart from the form's own.
    """
    return UPLOAD if call_field.is_file else f"{call_field.place}__{call_field.name}"


def form_field(call_field: CallField, labels: Mapping[str, str] | None = None) -> forms.Field:
    """Values are texts as people type them into one line, or a file; an empty one is not sent.

    `labels` are those of options, by value.
    """
    facts = " · ".join(
        str(fact) for fact in (call_field.type or call_field.schema.get("type", ""), call_field.place) if fact
    )
    help_text = f"{call_field.description} ({facts})" if call_field.description else facts
    label = f"{call_field.name} *" if call_field.required else call_field.name
    if call_field.is_file:
        chooser = forms.FileInput(attrs={"class": "studio-input"})
        return forms.FileField(label=label, required=False, help_text=help_text, widget=chooser)
    values = [value for value in call_field.schema.get("enum", ()) if value is not None]
    if call_field.schema.get("type") in ("boolean", ["boolean", "null"]):
        values = ["true", "false"]
    if values:
        choices = [("", "—"), *((str(value), _labelled(str(value), labels or {})) for value in values)]
        return dress(forms.ChoiceField(label=label, required=False, choices=choices, help_text=help_text))
    return text_field(label, help_text)


def _labelled(value: str, labels: Mapping[str, str]) -> str:
    return f"{labels[value]} ({value})" if labels.get(value) else value


def filled_values(call_fields: Iterable[CallField], place: str, cleaned: Mapping[str, Any]) -> dict[str, str]:
    """Return the values of the call at `place` that were filled in, by name."""
    values = {field.name: cleaned.get(field_name(field), "") for field in call_fields if field.place == place}
    return {name: value for name, value in values.items() if value}


def user_field() -> forms.ChoiceField:
    """Return a list of the platform's users, and none of them."""
    return forms.ChoiceField(
        label=_("Platform user"),
        required=False,
        choices=[("", "—"), *_users().items()],
        help_text=_("Row rules and @user values are this user's."),
    )


def text_field(label: Any, help_text: Any = "", *, required: bool = False) -> forms.Field:
    return dress(forms.CharField(label=label, required=required, help_text=help_text, strip=False))


def _users() -> Mapping[Guid, str]:
    try:
        return get_runtime().users()
    except PlatformError:
        return {}
