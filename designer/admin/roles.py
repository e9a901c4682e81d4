"""Roles of the application."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin

from designer.admin import choices
from designer.admin.checked import RefusalForm, SharedAdmin
from designer.admin.look import dress
from designer.models import Role
from designer.platform import get_platform
from designer.readiness import Metadata


class RoleForm(RefusalForm):
    class Meta:
        model = Role
        fields = ("name", "title", "description", "platform_roles")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "platform_roles" in self.fields:
            present = [(name, name) for name in self.instance.platform_roles or ()]
            offered = choices.security_roles(Metadata(get_platform()))
            field = forms.MultipleChoiceField(
                choices=list(dict.fromkeys([*offered, *present])),
                required=False,
                widget=forms.CheckboxSelectMultiple,
                help_text=self.fields["platform_roles"].help_text,
            )
            self.fields["platform_roles"] = dress(field)


@admin.register(Role)
class RoleAdmin(SharedAdmin):
    form = RoleForm
    list_display = ("name", "title", "corresponding")
    search_fields = ("name", "title")

    @admin.display(description="Platform roles")
    def corresponding(self, row: Role) -> str:
        return ", ".join(row.platform_roles)
