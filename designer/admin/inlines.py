"""Inputs, entity properties and columns, on their endpoint's page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, get_args

from django import forms
from django.forms.models import BaseInlineFormSet
from django.http import HttpRequest

from crmclient.metadata import Attribute
from designer.admin import choices
from designer.admin.look import StackedInline, TabularInline, dress, suggesting
from designer.admin.values import shown, typed
from designer.admin.vocabulary import vocabulary_of
from designer.definitions import BindingSource
from designer.kinds import Section
from designer.models import Binding, Column, Endpoint, Input
from designer.types import TYPES, InputType, natural_type

_SOURCES = {
    "input": "@input",
    "constant": "Constant",
    "user": "@user",
    "expression": "Expression",
}


class InputForm(forms.ModelForm):  # type: ignore[type-arg]
    default_text = dress(
        forms.CharField(required=False, label="Default", help_text=Input._meta.get_field("default").help_text)
    )
    allowed_text = dress(
        forms.CharField(
            required=False,
            label="Allowed values",
            widget=forms.Textarea(attrs={"rows": 3}),
            help_text="The only values accepted, one a line. Empty: all that the type takes.",
        )
    )

    class Meta:
        model = Input
        fields = (
            *("position", "name", "type", "required", "nullable", "description", "minimum", "maximum"),
            *("min_length", "max_length", "pattern"),
        )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "description" in self.fields:
            self.fields["description"].widget.attrs["rows"] = 2
        if "type" in self.fields:
            self.fields["type"] = dress(forms.ChoiceField(choices=choices.input_types(), initial="String"))
        self.initial["default_text"] = shown(self.instance.default)
        self.initial["allowed_text"] = "\n".join(shown(value) for value in self.instance.allowed)

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        kind = TYPES.get(cleaned.get("type", ""))
        if {"type", "default_text"}.intersection(self.changed_data):
            self.instance.default = typed(cleaned.get("default_text", ""), kind)
        if {"type", "allowed_text"}.intersection(self.changed_data):
            lines = cleaned.get("allowed_text", "").splitlines()
            self.instance.allowed = [typed(line.strip(), kind) for line in lines if line.strip()]
        return cleaned


class BindingForm(forms.ModelForm):  # type: ignore[type-arg]
    """`written` is set on the subclass that is made for one endpoint: what may be set, by name."""

    written: ClassVar[Mapping[str, Attribute]] = {}
    suggestions: ClassVar[list[tuple[str, str]]] = []

    value_text = forms.CharField(
        required=False,
        label="Value",
        strip=False,
        help_text="The name of an input or user property, a constant, or an expression.",
    )

    class Meta:
        model = Binding
        fields = ("position", "attribute", "source")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["value_text"] = shown(self.instance.value)
        if "attribute" not in self.fields:
            return
        present = choices.with_present(choices.described(self.written), self.instance.attribute)
        self.fields["attribute"] = dress(forms.ChoiceField(choices=present))
        sources = [(name, _SOURCES[name]) for name in get_args(BindingSource)]
        self.fields["source"] = dress(forms.ChoiceField(choices=sources, initial="input"))
        suggesting(self.fields["value_text"], self.suggestions)

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        text = cleaned.get("value_text", "")
        if not {"value_text", "source", "attribute"}.intersection(self.changed_data):
            return cleaned
        if cleaned.get("source") == "constant":
            self.instance.value = typed(text, self._kind(cleaned.get("attribute", "")))
        else:
            self.instance.value = text.strip().removeprefix("@user.").removeprefix("@")
        return cleaned

    def _kind(self, name: str) -> InputType | None:
        attribute = self.written.get(name)
        return natural_type(attribute) if attribute else None


class ColumnForm(forms.ModelForm):  # type: ignore[type-arg]
    """`read` is set on the subclass that is made for one endpoint: what may be answered, by name."""

    read: ClassVar[Mapping[str, Attribute]] = {}

    class Meta:
        model = Column
        fields = ("position", "attribute", "name")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "attribute" in self.fields:
            present = choices.with_present(choices.described(self.read), self.instance.attribute)
            self.fields["attribute"] = dress(forms.ChoiceField(choices=present))


class OrderedFormSet(BaseInlineFormSet):  # type: ignore[type-arg]
    """New rows go behind those that are there, unless they were put elsewhere."""

    def save_new(self, form: Any, commit: bool = True) -> Any:
        if not form.instance.position:
            taken = [known.instance.position for known in self.forms if known is not form]
            form.instance.position = max(taken, default=-1) + 1
        return super().save_new(form, commit)


class InputInline(StackedInline):
    model = Input
    form = InputForm
    formset = OrderedFormSet
    collapsible = True
    fieldsets = (
        (
            None,
            {
                "fields": (
                    ("name", "type"),
                    ("required", "nullable"),
                    "description",
                    ("default_text", "pattern"),
                    ("min_length", "max_length"),
                    ("minimum", "maximum"),
                    "allowed_text",
                    "position",
                )
            },
        ),
    )


class BindingInline(TabularInline):
    model = Binding
    form = BindingForm
    formset = OrderedFormSet
    fields = ("attribute", "source", "value_text", "position")

    def get_formset(self, request: HttpRequest, obj: Endpoint | None = None, **kwargs: Any) -> Any:
        made = {"written": vocabulary_of(obj).written, "suggestions": _suggestions(obj) if obj else []}
        return super().get_formset(
            request, obj, **{"form": type("BindingForm", (BindingForm,), made), **kwargs}
        )


class ColumnInline(TabularInline):
    model = Column
    form = ColumnForm
    formset = OrderedFormSet
    fields = ("attribute", "name", "position")

    def get_formset(self, request: HttpRequest, obj: Endpoint | None = None, **kwargs: Any) -> Any:
        form = type("ColumnForm", (ColumnForm,), {"read": vocabulary_of(obj).read})
        return super().get_formset(request, obj, **{"form": form, **kwargs})


def _suggestions(endpoint: Endpoint) -> list[tuple[str, str]]:
    return [(name, f"@{name}") for name in endpoint.inputs.values_list("name", flat=True)]


SECTION_INLINES = {
    Section.INPUTS: InputInline,
    Section.BINDINGS: BindingInline,
    Section.COLUMNS: ColumnInline,
}
