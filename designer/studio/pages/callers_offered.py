"""Fields of a form that makes endpoints: who may call what it makes."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy

from designer.loading import latest
from designer.models import Role
from designer.names import USER_TYPE
from designer.studio.look import dress
from designer.studio.trying.caller_fields import labelled


def caller_types_field() -> forms.MultipleChoiceField:
    """Return a field for the caller types that are admitted. Users of the platform are ticked."""
    types = sorted(latest().caller_types, key=lambda type: not type.is_of_users)
    return dress(
        forms.MultipleChoiceField(
            label=gettext_lazy("Caller types"),
            choices=[(type.name, labelled(type)) for type in types],
            initial=[USER_TYPE],
            widget=forms.CheckboxSelectMultiple,
            help_text=gettext_lazy(
                "Which types of caller may call the endpoint. If you also choose roles, a "
                "caller needs one of them, too."
            ),
        )
    )


def roles_field() -> forms.MultipleChoiceField:
    """Return a field for the roles of which callers need one. None is ticked."""
    return dress(
        forms.MultipleChoiceField(
            label=gettext_lazy("Roles"),
            choices=[(role.name, str(role)) for role in Role.objects.all()],
            initial=[],
            required=False,
            widget=forms.CheckboxSelectMultiple,
            help_text=gettext_lazy("If you choose no role, every authenticated caller may call."),
        )
    )
