"""The studio's look. The one module that knows django-unfold; every page of the studio builds on this."""

from __future__ import annotations

from typing import Any, TypeVar

from django import forms
from unfold import admin
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm
from unfold.views import ChangeList as UnfoldChangeList
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminPasswordWidget,
    UnfoldAdminSelect2Widget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanSwitchWidget,
)

__all__ = [
    "AdminPasswordChangeForm",
    "ChangeList",
    "ModelAdmin",
    "StackedInline",
    "TabularInline",
    "UserChangeForm",
    "UserCreationForm",
    "dress",
    "searchable",
    "suggesting",
]

F = TypeVar("F", bound=forms.Field)

# The first that fits: a widget is dressed by what it is.
_WIDGETS: tuple[tuple[type[forms.Widget], type[forms.Widget]], ...] = (
    (forms.CheckboxSelectMultiple, UnfoldAdminCheckboxSelectMultipleWidget),
    (forms.Select, UnfoldAdminSelectWidget),
    (forms.CheckboxInput, UnfoldBooleanSwitchWidget),
    (forms.Textarea, UnfoldAdminTextareaWidget),
    (forms.PasswordInput, UnfoldAdminPasswordWidget),
    (forms.NumberInput, UnfoldAdminIntegerFieldWidget),
    (forms.TextInput, UnfoldAdminTextInputWidget),
)


# unfold is not typed: these are where its classes enter ours.
class ModelAdmin(admin.ModelAdmin):  # type: ignore[misc]
    """A model's pages."""


class ChangeList(UnfoldChangeList):  # type: ignore[misc]
    """The rows of a list page."""


class StackedInline(admin.StackedInline):  # type: ignore[misc]
    """Rows under a row, each a small form, dragged into their order (`position`)."""

    ordering_field = "position"
    hide_ordering_field = True
    extra = 0


class TabularInline(admin.TabularInline):  # type: ignore[misc]
    """Rows under a row, as a table, dragged into their order (`position`)."""

    ordering_field = "position"
    hide_ordering_field = True
    extra = 0


def dress(field: F) -> F:
    """Give a form's own field the look that the admin gives to a model's."""
    for plain, dressed in _WIDGETS:
        if type(field.widget) is plain:
            _wear(field, dressed(attrs=field.widget.attrs))
            break
    return field


def searchable(field: forms.ChoiceField) -> forms.ChoiceField:
    """A list of choices that can be searched by typing."""
    _wear(field, UnfoldAdminSelect2Widget(attrs=field.widget.attrs))
    return field


class _Suggesting(UnfoldAdminTextInputWidget):  # type: ignore[misc]
    template_name = "designer/suggesting.html"

    def __init__(self, suggestions: list[tuple[str, str]]) -> None:
        super().__init__()
        self.suggestions = suggestions

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        listed = {
            **(attrs or {}),
            "list": f"{(attrs or {}).get('id', name)}_suggestions",
            "autocomplete": "off",
        }
        context: dict[str, Any] = super().get_context(name, value, listed)
        context["suggestions"] = self.suggestions
        return context


def suggesting(field: F, suggestions: list[tuple[str, str]]) -> F:
    """A text field that suggests values, each with a label, and takes any other."""
    _wear(field, _Suggesting(suggestions))
    return field


def _wear(field: forms.Field, widget: forms.Widget) -> None:
    widget.is_required = field.required
    if isinstance(field, forms.ChoiceField):
        widget.choices = field.choices  # type: ignore[attr-defined]
    field.widget = widget
