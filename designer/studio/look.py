"""The studio's look. The one module that knows django-unfold; every page of the studio builds on this."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar, TypeVar

from django import forms
from django.apps import apps
from django.contrib.admin import display
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db import IntegrityError
from django.db.models import JSONField, Model, TextField
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import get_language
from unfold import admin
from unfold.forms import AdminPasswordChangeForm, AuthenticationForm, UserChangeForm, UserCreationForm
from unfold.views import ChangeList as UnfoldChangeList
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminPasswordWidget,
    UnfoldAdminSelect2MultipleWidget,
    UnfoldAdminSelect2Widget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanSwitchWidget,
)

from designer.studio.audited_pages import Audited

__all__ = [
    "AdminPasswordChangeForm",
    "AuthenticationForm",
    "ChangeList",
    "ModelAdmin",
    "StackedInline",
    "TabularInline",
    "TextArea",
    "UserChangeForm",
    "UserCreationForm",
    "dress",
    "picked",
    "searchable",
    "suggesting",
]

F = TypeVar("F", bound=forms.Field)


class TextArea(UnfoldAdminTextareaWidget):  # type: ignore[misc]
    """A text of several lines. Browsers send each end of a line as CR and LF, whatever the page has shown."""

    # Unfold's own loses a line break that the text begins with.
    template_name = "django/forms/widgets/textarea.html"

    def value_from_datadict(self, data: Any, files: Any, name: str) -> Any:
        value = super().value_from_datadict(data, files, name)
        return value.replace("\r\n", "\n") if isinstance(value, str) else value


class _WholeText(forms.CharField):
    """A text that is kept as it was typed, such as one whose last line ends. Blanks alone are no text."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{**kwargs, "strip": False})

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        return text if text is None or text.strip() else self.empty_value


_OVERRIDES = {
    TextField: {"widget": TextArea, "form_class": _WholeText},
    JSONField: {"widget": TextArea},
}

# The first that fits: a widget is dressed by what it is.
_WIDGETS: tuple[tuple[type[forms.Widget], type[forms.Widget]], ...] = (
    (forms.CheckboxSelectMultiple, UnfoldAdminCheckboxSelectMultipleWidget),
    (forms.Select, UnfoldAdminSelectWidget),
    (forms.CheckboxInput, UnfoldBooleanSwitchWidget),
    (forms.Textarea, TextArea),
    (forms.PasswordInput, UnfoldAdminPasswordWidget),
    (forms.NumberInput, UnfoldAdminIntegerFieldWidget),
    (forms.TextInput, UnfoldAdminTextInputWidget),
)


@cache
def _checkbox(language: str | None) -> str:
    """Return the check box of a list row, with `{}` for its value: rendered once, it serves all rows."""
    return str(admin.checkbox.render(ACTION_CHECKBOX_NAME, "{}"))


# unfold is not typed: these are where its classes enter ours.
class ChangeList(UnfoldChangeList):  # type: ignore[misc]
    """The rows of a list page. The admin theme asks for the addresses of all headers again with every row."""

    def get_query_string(self, new_params: Any = None, remove: Any = None) -> str:
        addresses: dict[str, str] = self.__dict__.setdefault("_addresses", {})
        cache_key = repr((new_params, remove))
        if cache_key not in addresses:
            addresses[cache_key] = super().get_query_string(new_params, remove)
        return addresses[cache_key]


class ModelAdmin(Audited, admin.ModelAdmin):  # type: ignore[misc]
    """A model's pages. `when_empty` says on a list without rows what they are for."""

    when_empty: str | Promise = ""
    formfield_overrides: ClassVar[Any] = _OVERRIDES

    list_per_page = 50
    # Who leaves a page with what nobody has saved is asked.
    warn_unsaved_form = True

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return ChangeList

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Of a form that was sent twice at once, both may find its name free, and one is the second to write
        it: that one is checked again, and shows at its fields what is taken.
        """
        try:
            answer: HttpResponseBase = super().changeform_view(request, *args, **kwargs)
        except IntegrityError:
            answer = super().changeform_view(request, *args, **kwargs)
        return answer

    @display(description=admin.ModelAdmin.action_checkbox.short_description)
    def action_checkbox(self, obj: Model) -> SafeString:
        return format_html(_checkbox(get_language()), str(obj.pk))

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """What would go, without the rows that only join two others: they have no name, and are counted."""
        texts, counts, permissions, protected = super().get_deleted_objects(objs, request)
        joins = [
            f"{capfirst(model._meta.verbose_name)}: "
            for model in apps.get_models(include_auto_created=True)
            if model._meta.auto_created
        ]
        return _without(texts, tuple(joins)), counts, permissions, protected


def _without(texts: list[Any], beginnings: tuple[str, ...]) -> list[Any]:
    """Nested lists of texts as the admin shows them, without texts that begin so."""
    remaining = [
        _without(item, beginnings) if isinstance(item, list) else item
        for item in texts
        if isinstance(item, list) or not item.startswith(beginnings)
    ]
    return [item for item in remaining if item != []]


class StackedInline(admin.StackedInline):  # type: ignore[misc]
    """Rows under a row, each a small form, dragged into their order (`position`)."""

    formfield_overrides: ClassVar[Any] = {**admin.StackedInline.formfield_overrides, **_OVERRIDES}
    ordering_field = "position"
    hide_ordering_field = True
    extra = 0


class TabularInline(admin.TabularInline):  # type: ignore[misc]
    """Rows under a row, as a table, dragged into their order (`position`)."""

    formfield_overrides: ClassVar[Any] = {**admin.TabularInline.formfield_overrides, **_OVERRIDES}
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
    """A list of choices that can be searched by typing, of which one or several are chosen."""
    several = isinstance(field, forms.MultipleChoiceField)
    widget = UnfoldAdminSelect2MultipleWidget if several else UnfoldAdminSelect2Widget
    _wear(field, widget(attrs=field.widget.attrs))
    return field


class _Picker(UnfoldAdminSelectWidget):  # type: ignore[misc]
    """Writes the present choice alone: `picker.js` offers those that the page holds once, under `source`."""

    template_name = "django/forms/widgets/select.html"

    choices: Any

    def __init__(self, source: str) -> None:
        super().__init__(attrs={"data-picker": source})

    def optgroups(self, name: str, value: list[str], attrs: dict[str, Any] | None = None) -> Any:
        offered = self.choices
        self.choices = [(key, label) for key, label in offered if not key or str(key) in value]
        try:
            return super().optgroups(name, value, attrs)
        finally:
            self.choices = offered


def picked(field: forms.ChoiceField, source: str) -> forms.ChoiceField:
    """A list of choices that is written once for a page, however many fields choose from it."""
    _wear(field, _Picker(source))
    return field


class _Suggesting(UnfoldAdminTextInputWidget):  # type: ignore[misc]
    """A text field with a list of suggestions, its own or the one of the page that has the id `list_id`."""

    def __init__(self, suggestions: list[tuple[str, str]], list_id: str) -> None:
        super().__init__()
        self.suggestions = suggestions
        self.list_id = list_id
        self.template_name = "django/forms/widgets/input.html" if list_id else "designer/suggesting.html"

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        listed = {
            **(attrs or {}),
            "list": self.list_id or f"{(attrs or {}).get('id', name)}_suggestions",
            "autocomplete": "off",
        }
        context: dict[str, Any] = super().get_context(name, value, listed)
        context["suggestions"] = self.suggestions
        return context


def suggesting(field: F, suggestions: list[tuple[str, str]] | None = None, *, list_id: str = "") -> F:
    """A text field that suggests values, each with a label, and takes any other.

    With `list_id` it takes them from the list that the page has under that id.
    """
    _wear(field, _Suggesting(suggestions or [], list_id))
    return field


def _wear(field: forms.Field, widget: forms.Widget) -> None:
    widget.is_required = field.required
    if isinstance(field, forms.ChoiceField):
        widget.choices = field.choices  # type: ignore[attr-defined]
    field.widget = widget
