"""Fields of a form that makes endpoints: the module of what it makes, who may call, whether it is served."""

from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import Count
from django.utils.translation import gettext_lazy

from designer.loading import latest
from designer.models import Module, Role, names
from designer.names import USER_TYPE
from designer.studio.look import dress, with_suggestions
from designer.studio.trying.caller_fields import labelled


def module_field() -> forms.CharField:
    """Return a field for the segment of a module, which need not exist.

    The module with the most endpoints is proposed: a new endpoint most likely belongs there.
    """
    modules = list(Module.objects.annotate(size=Count("endpoints")))
    largest = max(modules, key=lambda module: module.size, default=None)
    field = forms.CharField(
        label=gettext_lazy("Module"),
        validators=[names.segment],
        initial=largest.segment if largest else "",
        help_text=gettext_lazy(
            "The module's segment, as in /api/sales/accounts. If there is no such module yet, it is created."
        ),
    )
    return with_suggestions(field, [(row.segment, row.title) for row in modules])


def enabled_field(help_text: Any) -> forms.BooleanField:
    """Return a field for whether callers are served at once. It is ticked."""
    field = forms.BooleanField(
        label=gettext_lazy("Enabled"), required=False, initial=True, help_text=help_text
    )
    return dress(field)


def caller_types_field() -> forms.MultipleChoiceField:
    """Return a field for the caller types that are admitted. Users of the platform are ticked."""
    # False sorts before True: the type of users comes first.
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
    """Return a field for the roles of which a caller needs one. No role is ticked."""
    return dress(
        forms.MultipleChoiceField(
            label=gettext_lazy("Roles"),
            choices=[(role.name, str(role)) for role in Role.objects.all()],
            initial=[],
            required=False,
            widget=forms.CheckboxSelectMultiple,
            help_text=gettext_lazy("If you choose no role, every caller of the chosen types may call."),
        )
    )
