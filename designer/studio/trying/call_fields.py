"""Form fields for what a call asks for, and for whom it is made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from django.utils.text import capfirst
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
    """Return the form's field for a value of the call: a file, a choice, or one line of text.

    `labels` are those of a choice's options, by value. No field is required, and a value that is left empty
    is not sent: how the endpoint answers then is what people want to try.
    """
    schema_type = call_field.schema.get("type", "")
    # The service's own parameters have no type of an input: that of JSON is written like one.
    shown_type = call_field.type or capfirst(str(schema_type))
    facts = " · ".join(fact for fact in (shown_type, call_field.place) if fact)
    help_text = f"{call_field.description} ({facts})" if call_field.description else facts
    label = f"{call_field.name} *" if call_field.required else call_field.name
    if call_field.is_file:
        chooser = forms.FileInput(attrs={"class": "studio-input"})
        return forms.FileField(label=label, required=False, help_text=help_text, widget=chooser)
    # Null is not offered: an empty field is not sent.
    values = [str(value) for value in call_field.schema.get("enum", ()) if value is not None]
    if schema_type in ("boolean", ["boolean", "null"]):
        values = ["true", "false"]
    if values:
        choices = [("", "—"), *((value, _labelled(value, labels or {})) for value in values)]
        return dress(forms.ChoiceField(label=label, required=False, choices=choices, help_text=help_text))
    return text_field(label, help_text)


def _labelled(value: str, labels: Mapping[str, str]) -> str:
    """Return “Label (value)”, or only the value where it has no label."""
    return f"{labels[value]} ({value})" if labels.get(value) else value


def filled_values(call_fields: Iterable[CallField], place: str, cleaned: Mapping[str, Any]) -> dict[str, str]:
    """Return the values of the call at `place` that were filled in, by name."""
    values = {field.name: cleaned.get(field_name(field), "") for field in call_fields if field.place == place}
    return {name: value for name, value in values.items() if value}


def user_field() -> forms.ChoiceField:
    """Return a field to choose one of the platform's users, or none."""
    return forms.ChoiceField(
        label=_("Platform user"),
        required=False,
        choices=[("", "—"), *_users().items()],
        help_text=_("Row rules and @user values are this user's."),
    )


def text_field(label: Any, help_text: Any = "", *, required: bool = False) -> forms.Field:
    return dress(forms.CharField(label=label, required=required, help_text=help_text, strip=False))


def _users() -> Mapping[Guid, str]:
    """Return the names of the platform's users by id; none while the platform cannot be asked."""
    try:
        return get_runtime().users()
    except PlatformError:
        return {}
