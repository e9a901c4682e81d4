"""The form of an API key."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from designer.models import Role
from designer.studio.look import dress
from designer.studio.sent_numbers import RowsField
from runtime.callers.keys.api_key import ApiKey
from runtime.callers.record_form import RecordForm


class KeyForm(RecordForm):
    roles = dress(
        RowsField(
            Role.objects.all(),
            required=False,
            label=_("Roles"),
            widget=forms.CheckboxSelectMultiple,
            help_text=ApiKey._meta.get_field("roles").help_text,
        )
    )

    class Meta:
        model = ApiKey
        fields = ("name", "active", "roles", "caller_type", "record", "networks", "expires_at", "rate")

    def clean(self) -> dict[str, Any]:
        """Check the form. A key whose caller type has records needs one."""
        cleaned = super().clean()
        type = cleaned.get("caller_type")
        is_missing = cleaned.get("record") is None and "record" not in self.errors
        if type is not None and (type.entity or type.is_of_users) and is_missing:
            field = "platform_user" if type.is_of_users else "record"
            self.add_error(
                field,
                _("Callers of this type have a record. Choose a record, or the caller type service."),
            )
        return cleaned
