"""The studio's look. The one module that knows django-unfold; every page of the studio builds on this."""

from __future__ import annotations

import json
from functools import cache
from typing import Any, ClassVar, TypeVar

from django import forms
from django.apps import apps
from django.contrib.admin import display
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME, InlineAdminFormSet
from django.contrib.auth.models import User
from django.db import IntegrityError
from django.db.models import Field, JSONField, ManyToManyField, Model, TextField
from django.forms.utils import flatatt
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.utils.functional import Promise
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import get_language, gettext
from django.utils.translation import gettext_lazy as _
from unfold import admin
from unfold import forms as unfold_forms
from unfold.forms import AuthenticationForm, UserChangeForm, UserCreationForm
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
from designer.studio.sent_numbers import RowsField, sent_number

__all__ = [
    "AdminPasswordChangeForm",
    "AuthenticationForm",
    "ChangeList",
    "ModelAdmin",
    "OwnPasswordChangeForm",
    "StackedInline",
    "TabularInline",
    "TextArea",
    "UserChangeForm",
    "UserCreationForm",
    "dress",
    "searchable",
    "with_shared_choices",
    "with_suggestions",
]

F = TypeVar("F", bound=forms.Field)


class TextArea(UnfoldAdminTextareaWidget):  # type: ignore[misc]
    """A text of several lines. Its value has LF at the ends of lines; browsers send CR and LF."""

    # Unfold's own template loses a line break at the beginning of the text.
    template_name = "django/forms/widgets/textarea.html"

    def value_from_datadict(self, data: Any, files: Any, name: str) -> Any:
        value = super().value_from_datadict(data, files, name)
        return value.replace("\r\n", "\n") if isinstance(value, str) else value


class _WholeText(forms.CharField):
    """A text that keeps the blanks and line breaks at its ends. A text of blanks alone is empty."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{**kwargs, "strip": False})

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        return text if text is None or text.strip() else self.empty_value


class _PasswordAlone:
    """Writes the password of an account, and nothing else of it. Mixed in before a form of Django's.

    Django's form writes the whole account as it was when the request began: it would let in again whom
    somebody has shut out, and make again what somebody has deleted, while the password was hashed.
    """

    def set_password_and_save(self, user: User, *args: Any, commit: bool = True, **kwargs: Any) -> User:
        changed: User = super().set_password_and_save(user, *args, commit=False, **kwargs)  # type: ignore[misc]
        if commit:
            User.objects.filter(pk=changed.pk).update(password=changed.password)
        return changed


class AdminPasswordChangeForm(_PasswordAlone, unfold_forms.AdminPasswordChangeForm):  # type: ignore[misc]
    """The form of the password of somebody else's account."""


class OwnPasswordChangeForm(_PasswordAlone, unfold_forms.AdminOwnPasswordChangeForm):  # type: ignore[misc]
    """The form of the own password."""


_OVERRIDES = {
    TextField: {"widget": TextArea, "form_class": _WholeText},
    JSONField: {"widget": TextArea},
    ManyToManyField: {"form_class": RowsField},
}

# The widget of the studio's look, by the class of the widget that Django gives to a field.
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
    """Return the check box of a list row as HTML, with `{}` for its value.

    Rendered once for each language, it serves all rows.
    """
    return str(admin.checkbox.render(ACTION_CHECKBOX_NAME, "{}"))


class _InlineRows(InlineAdminFormSet):
    """The rows of an inline. Its link says “Add role rule”; Django's says “Add another Role rule”."""

    def __init__(self, shown: InlineAdminFormSet) -> None:
        # All that Django has found out about the rows.
        self.__dict__.update(shown.__dict__)

    @property
    def media(self) -> forms.Media:
        """The scripts and styles of a row: Django joins those of all rows, which are the same."""
        media: forms.Media = self.opts.media + self.formset.media
        return media

    def inline_formset_data(self) -> str:
        data = json.loads(super().inline_formset_data())
        data["options"]["addText"] = gettext("Add %(name)s") % {"name": self.opts.verbose_name}
        return json.dumps(data)


# unfold is not typed: these are where its classes enter ours.
class ChangeList(UnfoldChangeList):  # type: ignore[misc]
    """The rows of a list page. Addresses are cached: Unfold asks for those of all headers with every row."""

    def get_query_string(self, new_params: Any = None, remove: Any = None) -> str:
        addresses: dict[str, str] = self.__dict__.setdefault("_addresses", {})
        cache_key = repr((new_params, remove))
        if cache_key not in addresses:
            addresses[cache_key] = super().get_query_string(new_params, remove)
        return addresses[cache_key]


class ModelAdmin(Audited, admin.ModelAdmin):  # type: ignore[misc]
    """A model's pages. `when_empty` says on a list without rows what they are for."""

    when_empty: str | Promise = ""
    change_form_template = "designer/audited_form.html"
    formfield_overrides: ClassVar[Any] = _OVERRIDES

    list_per_page = 50
    # Unfold asks before somebody leaves a page with changes that are not saved.
    warn_unsaved_form = True

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return ChangeList

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Show or save the page of a row. If a unique value is taken meanwhile, check the form once more.

        When a form is sent twice at once, both may find its name free. The second one to write it fails in
        the database. Checked again, it shows at its field that the name is taken.
        """
        try:
            answer: HttpResponseBase = super().changeform_view(request, *args, **kwargs)
        except IntegrityError:
            answer = super().changeform_view(request, *args, **kwargs)
        return answer

    def response_action(self, request: HttpRequest, queryset: Any) -> HttpResponseBase | None:
        """Do the action of a list that was chosen, with the rows that were. Raises Http404 where a row is
        named by what is no row's number: the database would fail for it.
        """
        if any(sent_number(text) is None for text in request.POST.getlist(ACTION_CHECKBOX_NAME)):
            raise Http404
        answer: HttpResponseBase | None = super().response_action(request, queryset)
        return answer

    def formfield_for_dbfield(self, db_field: Field[Any, Any], request: HttpRequest, **kwargs: Any) -> Any:
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        # Django's sentence names the model and the field, which the page does, and not what to do.
        if field is not None and db_field.unique:
            field.error_messages["unique"] = _("This value is taken. Choose another one.")
        return field

    @display(description=admin.ModelAdmin.action_checkbox.short_description)
    def action_checkbox(self, obj: Model) -> SafeString:
        return format_html(_checkbox(get_language()), str(obj.pk))

    def get_inline_formsets(self, request: HttpRequest, *args: Any, **kwargs: Any) -> list[Any]:
        return [_InlineRows(shown) for shown in super().get_inline_formsets(request, *args, **kwargs)]

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Return what a deletion removes, without rows that only join two others: users do not know them."""
        texts, counts, permissions, protected = super().get_deleted_objects(objs, request)
        joins = [
            model._meta for model in apps.get_models(include_auto_created=True) if model._meta.auto_created
        ]
        # The admin shows each row as “Model: row”.
        beginnings = tuple(f"{capfirst(join.verbose_name)}: " for join in joins)
        uncounted = {join.verbose_name_plural for join in joins}
        counts = {name: count for name, count in counts.items() if name not in uncounted}
        return _without_texts(texts, beginnings), counts, permissions, protected


def _without_texts(texts: list[Any], beginnings: tuple[str, ...]) -> list[Any]:
    """Return nested lists of texts without the texts that begin with one of `beginnings`."""
    remaining = [
        _without_texts(item, beginnings) if isinstance(item, list) else item
        for item in texts
        if isinstance(item, list) or not item.startswith(beginnings)
    ]
    # A list that held only such texts is empty now.
    return [item for item in remaining if item != []]


class StackedInline(admin.StackedInline):  # type: ignore[misc]
    """Rows that belong to the row of the page, each a small form. Users drag them into order (`position`)."""

    formfield_overrides: ClassVar[Any] = {**admin.StackedInline.formfield_overrides, **_OVERRIDES}
    ordering_field = "position"
    hide_ordering_field = True
    extra = 0


class TabularInline(admin.TabularInline):  # type: ignore[misc]
    """Rows that belong to the row of the page, as a table. Users drag them into order (`position`)."""

    formfield_overrides: ClassVar[Any] = {**admin.TabularInline.formfield_overrides, **_OVERRIDES}
    ordering_field = "position"
    hide_ordering_field = True
    extra = 0


def dress(field: F) -> F:
    """Give the field of a form the look that the admin gives to fields of models. Return the field."""
    for plain, dressed in _WIDGETS:
        # Not `isinstance`: a subclass brings a look of its own.
        if type(field.widget) is plain:
            _give_widget(field, dressed(attrs=field.widget.attrs))
            break
    return field


def searchable(field: forms.ChoiceField) -> forms.ChoiceField:
    """Give the field a list of choices that users search by typing. Return the field."""
    several = isinstance(field, forms.MultipleChoiceField)
    widget = UnfoldAdminSelect2MultipleWidget if several else UnfoldAdminSelect2Widget
    _give_widget(field, widget(attrs=field.widget.attrs))
    return field


class _Picker(UnfoldAdminSelectWidget):  # type: ignore[misc]
    """A list that has only the present choice in its HTML.

    `picker.js` offers the others, which stand once in the page's data under `source`.
    """

    choices: Any

    def __init__(self, source: str) -> None:
        super().__init__(attrs={"data-picker": source})

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        """Return the list as HTML. Not by a template: hundreds of rows have a list each, and each another."""
        context = self.get_context(name, value, attrs)["widget"]
        options = [option for _group, options, _index in context["optgroups"] for option in options]
        return format_html(
            '<select name="{}"{}>{}</select>',
            name,
            flatatt(context["attrs"]),
            format_html_join(
                "",
                '<option value="{}"{}>{}</option>',
                ((option["value"], flatatt(option["attrs"]), option["label"]) for option in options),
            ),
        )

    def optgroups(self, name: str, value: list[str], attrs: dict[str, Any] | None = None) -> Any:
        # Django's method makes options of all choices: for the call, there are fewer.
        offered = self.choices
        self.choices = [(key, label) for key, label in offered if not key or str(key) in value]
        try:
            return super().optgroups(name, value, attrs)
        finally:
            self.choices = offered


def with_shared_choices(field: forms.ChoiceField, source: str) -> forms.ChoiceField:
    """Give the field a list whose choices stand once in the page's data, under `source`. Return the field.

    Many fields of a page can choose from the same entities or attributes, which may be thousands.
    """
    _give_widget(field, _Picker(source))
    return field


class _Suggesting(UnfoldAdminTextInputWidget):  # type: ignore[misc]
    """A text field with a list of suggestions, each a value and its label."""

    template_name = "designer/suggesting.html"

    def __init__(self, suggestions: list[tuple[str, str]]) -> None:
        super().__init__()
        self.suggestions = suggestions

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        widget_attrs = {
            **(attrs or {}),
            "list": f"{(attrs or {}).get('id', name)}_suggestions",
            "autocomplete": "off",
        }
        context: dict[str, Any] = super().get_context(name, value, widget_attrs)
        context["suggestions"] = self.suggestions
        return context


def with_suggestions(field: F, suggestions: list[tuple[str, str]]) -> F:
    """Let the field suggest values, each with a label, and take any other value. Return the field."""
    _give_widget(field, _Suggesting(suggestions))
    return field


def _give_widget(field: forms.Field, widget: forms.Widget) -> None:
    """Give the field another widget, with what a field tells its widget when it is made."""
    widget.is_required = field.required
    if isinstance(field, forms.ChoiceField):
        widget.choices = field.choices  # type: ignore[attr-defined]
    field.widget = widget
