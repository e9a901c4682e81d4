"""The permissions of groups and studio accounts, as their pages offer them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, TypeAlias

from django import forms
from django.contrib import admin
from django.contrib.auth.models import Permission
from django.db.models import Model, QuerySet
from django.utils.functional import Promise
from django.utils.text import capfirst
from django.utils.translation import gettext, override
from django.utils.translation import gettext_lazy as _

from designer.models import RelatedColumn, StudioRights

_VERBS: Mapping[str, Promise] = {
    "view": _("May view"),
    "add": _("May add"),
    "change": _("May change"),
    "delete": _("May delete"),
}
# Titles of models that share their name with another model, or whose name says too little in this list.
_TITLES: Mapping[type[Model], Promise] = {
    RelatedColumn: _("columns of user properties"),
    StudioRights: _("rights in the whole studio"),
}

# A title, and the row ids and labels of the permissions below it.
_Group: TypeAlias = "tuple[str, list[tuple[int, str]]]"


class PermissionBoxes(forms.CheckboxSelectMultiple):
    """A check box for each permission, under the title of what it is about."""

    template_name = "designer/permissions.html"


class PermissionForm(forms.ModelForm):  # type: ignore[type-arg]  # no generic at run time
    """A form that offers, in its field `permission_field`, the permissions that pages of the studio ask for.

    Other permissions, such as those of tables that no page shows, stay with whom they were given to.
    """

    permission_field: str

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # People who may only look have no fields.
        field = self.fields.get(self.permission_field)
        if isinstance(field, forms.ModelMultipleChoiceField):
            offered = _offered()
            field.queryset = Permission.objects.filter(pk__in=[permission.pk for permission in offered])
            field.choices = list(_grouped(offered))

    def _save_m2m(self) -> None:
        """Save the chosen permissions, and keep those that the form does not offer."""
        if self.permission_field in self.cleaned_data:
            offered = [permission.pk for permission in _offered()]
            kept = getattr(self.instance, self.permission_field).exclude(pk__in=offered)
            chosen: QuerySet[Permission] = self.cleaned_data[self.permission_field]
            self.cleaned_data[self.permission_field] = [*chosen, *kept]
        super()._save_m2m()  # type: ignore[misc]  # not in the stubs


def _offered() -> Collection[Permission]:
    """Return the permissions that pages of the studio ask for: of its models, and of those with pages."""
    shown = [model._meta for model in admin.site._registry]
    with_pages = {(options.app_label, options.model_name) for options in shown}
    return [
        permission
        for permission in Permission.objects.select_related("content_type")
        if permission.content_type.app_label == StudioRights._meta.app_label
        or (permission.content_type.app_label, permission.content_type.model) in with_pages
    ]


def _grouped(permissions: Collection[Permission]) -> Iterator[_Group]:
    """Yield the permissions by what they are about: those of the whole studio first, then by title."""
    by_model: dict[type[Model], list[Permission]] = {}
    for permission in permissions:
        if model := permission.content_type.model_class():
            by_model.setdefault(model, []).append(permission)
    verbs = list(_VERBS)
    for model in sorted(by_model, key=lambda model: (model is not StudioRights, _title(model).casefold())):
        labelled = []
        for permission in by_model[model]:
            verb = permission.codename.removesuffix(f"_{model._meta.model_name}")
            is_named = verb not in _VERBS
            # The database has the names of other permissions in English, as their models write them.
            label = gettext(permission.name) if is_named else str(_VERBS[verb])
            order = len(verbs) if is_named else verbs.index(verb)
            labelled.append((order, label, permission.pk))
        yield capfirst(_title(model)), [(pk, label) for _order, label, pk in sorted(labelled)]


def permissions_in_words(permissions: QuerySet[Permission]) -> frozenset[str]:
    """Return what the permissions allow, in the words of the studio and in English: “may change endpoints”.

    For the audit log, which is in one language.
    """
    with override("en"):
        return frozenset(_in_words(permission) for permission in permissions.select_related("content_type"))


def _in_words(permission: Permission) -> str:
    model = permission.content_type.model_class()
    verb = permission.codename.removesuffix(f"_{permission.content_type.model}")
    # The database has the names of other permissions in English, as their models write them.
    text = permission.name if model is None or verb not in _VERBS else f"{_VERBS[verb]} {_title(model)}"
    return text[0].lower() + text[1:]


def _title(model: type[Model]) -> str:
    """Return what the permissions of a model are about. In the middle of a sentence, as it stands."""
    return str(_TITLES.get(model) or model._meta.verbose_name_plural)
