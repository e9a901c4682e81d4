"""Roles of the application."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from designer.models import Role
from designer.studio.look import dress
from designer.studio.metadata import choices
from designer.studio.metadata.page_metadata import known_metadata
from designer.studio.saving.needed_rows import NeededAdmin
from designer.studio.saving.refusal_form import RefusalForm


class RoleForm(RefusalForm):
    """The fields of a role. The roles of the platform that correspond to it are ticked."""

    class Meta:
        model = Role
        fields = ("name", "title", "description", "platform_roles", "rate")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "platform_roles" in self.fields:
            # A role that the platform no longer has is still offered, so that a save does not drop it.
            present = [(name, name) for name in self.instance.platform_roles or ()]
            offered = choices.security_roles(known_metadata())
            field = forms.MultipleChoiceField(
                choices=list(dict.fromkeys([*offered, *present])),
                required=False,
                label=self.fields["platform_roles"].label,
                widget=forms.CheckboxSelectMultiple,
                help_text=self.fields["platform_roles"].help_text,
            )
            self.fields["platform_roles"] = dress(field)

    def clean_rate(self) -> int:
        """Return the highest number of calls; 0, as for an empty field, is no limit."""
        return self.cleaned_data["rate"] or 0


@admin.register(Role)
class RoleAdmin(NeededAdmin):
    form = RoleForm
    change_form_template = "designer/from_metadata.html"
    access_fields = frozenset({"name", "platform_roles"})
    when_empty = _("No role yet. Roles say which callers may use an endpoint; tokens bring them.")
    list_display = ("name", "title", "corresponding")
    search_fields = ("name", "title")

    class Media:
        css = {"all": ["designer/studio.css", "designer/endpoint.css"]}

    @admin.display(description=_("Platform roles"))
    def corresponding(self, row: Role) -> str:
        return ", ".join(row.platform_roles)
