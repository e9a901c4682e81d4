"""The forms and inlines of inputs, entity properties (bindings) and columns, on their endpoint's page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, get_args

from django import forms
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from crmclient.metadata import Attribute
from designer.definitions import BindingSource
from designer.kinds import Section
from designer.models import Binding, Column, Endpoint, Input
from designer.studio.endpoint_form.row_formsets import OrderedFormSet, OwnFormSet
from designer.studio.endpoint_form.step_inlines import FetcherInline, PreconditionInline
from designer.studio.field_values import shown, typed
from designer.studio.look import StackedInline, TabularInline, TextArea, dress, picked, suggesting
from designer.studio.metadata import choices
from designer.studio.metadata.vocabulary import vocabulary_of
from designer.types import TYPES, InputType, natural_type

_SOURCES = {
    "input": "@input",
    "constant": _("Constant"),
    "user": "@user",
    "fetch": "@fetch",
    "expression": _("Expression"),
}


class InputForm(forms.ModelForm):  # type: ignore[type-arg]
    """The form of an input. With `takes_lists`, an input may be a list of records."""

    takes_lists: ClassVar[bool] = False

    default_text = dress(
        forms.CharField(
            required=False,
            label=_("Default"),
            strip=False,
            help_text=Input._meta.get_field("default").help_text,
        )
    )
    allowed_text = dress(
        forms.CharField(
            required=False,
            label=_("Allowed values"),
            strip=False,
            widget=forms.Textarea(attrs={"rows": 3}),
            help_text=_(
                "The only values that are accepted, one per line. If you enter none, all "
                "values of the type are accepted."
            ),
        )
    )

    class Meta:
        model = Input
        fields = (
            *("position", "name", "type", "required", "nullable", "label", "description"),
            *("minimum", "maximum", "min_length", "max_length", "pattern"),
        )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "description" in self.fields:
            self.fields["description"].widget.attrs["rows"] = 2
        if "type" in self.fields:
            possible = {name for name, kind in TYPES.items() if self.takes_lists or not kind.holds_records}
            possible.add(self.instance.type)
            offered = [choice for choice in choices.input_types() if choice[0] in possible]
            self.fields["type"] = dress(
                forms.ChoiceField(label=self.fields["type"].label, choices=offered, initial="String")
            )
        self.initial["default_text"] = shown(self.instance.default)
        _show_lines(self, "default_text")
        self.initial["allowed_text"] = "\n".join(shown(value) for value in self.instance.allowed)

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        kind = TYPES.get(cleaned.get("type", ""))
        if {"type", "default_text"}.intersection(self.changed_data):
            text = cleaned.get("default_text", "")
            keeps_blanks = kind is not None and kind.is_textual and text.strip()
            self.instance.default = typed(text if keeps_blanks else text.strip(), kind)
        if {"type", "allowed_text"}.intersection(self.changed_data):
            lines = cleaned.get("allowed_text", "").splitlines()
            self.instance.allowed = [typed(line.strip(), kind) for line in lines if line.strip()]
        return cleaned


class BindingForm(forms.ModelForm):  # type: ignore[type-arg]
    """The form of an entity property. `binding_form` makes a subclass for one endpoint, which has:

    `written`, the attributes that may be set, by name; `offered`, the choices made of them, which the page
    holds once under the name `source`; `suggestions`, values and labels for the fields of the value, which
    the page holds once, too.
    """

    written: ClassVar[Mapping[str, Attribute]] = {}
    offered: ClassVar[choices.Choices] = []
    source: ClassVar[str] = "attributes"
    suggestions: ClassVar[list[tuple[str, str]]] = []

    value_text = forms.CharField(
        required=False,
        label=_("Value"),
        strip=False,
        help_text=_("The name of an input or user property, a constant, or an expression."),
    )

    class Meta:
        model = Binding
        fields = ("position", "attribute", "source")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["value_text"] = shown(self.instance.value)
        if "attribute" not in self.fields:
            return
        present = choices.with_present(self.offered, self.instance.attribute)
        attribute = forms.ChoiceField(label=self.fields["attribute"].label, choices=present)
        self.fields["attribute"] = picked(attribute, self.source)
        sources = [(name, _SOURCES[name]) for name in get_args(BindingSource)]
        source = forms.ChoiceField(label=self.fields["source"].label, choices=sources, initial="input")
        self.fields["source"] = dress(source)
        # With a list in each row the page would grow with the square of its inputs.
        suggesting(self.fields["value_text"], list_id="suggested-values")
        _show_lines(self, "value_text")

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        text = cleaned.get("value_text", "")
        if not {"value_text", "source", "attribute"}.intersection(self.changed_data):
            return cleaned
        if cleaned.get("source") == "constant":
            self.instance.value = typed(text, self._kind(cleaned.get("attribute", "")))
        else:
            self.instance.value = _name(text.strip())
        return cleaned

    def _kind(self, name: str) -> InputType | None:
        attribute = self.written.get(name)
        return natural_type(attribute) if attribute else None


def binding_form(written: Mapping[str, Attribute], **more: Any) -> type[BindingForm]:
    """Return a form for entity properties of the attributes `written`. `more`: as on `BindingForm`."""
    class_attributes = {"written": written, "offered": choices.described(written), **more}
    return type("BindingForm", (BindingForm,), class_attributes)


def _show_lines(form: forms.ModelForm[Any], name: str) -> None:
    """Make the field a text area if it holds several lines: browsers join the lines of any other input."""
    if name in form.fields and any(end in form.initial[name] for end in "\r\n"):
        form.fields[name].widget = TextArea(attrs={"rows": 1})


def _name(text: str) -> str:
    """Return the name without the sign that people may type before it, such as `@user.`."""
    for prefix in ("@user.", "@fetch.", "@"):
        if text.startswith(prefix):
            return text.removeprefix(prefix)
    return text


class ColumnForm(forms.ModelForm):  # type: ignore[type-arg]
    """The form of a column. `offered`, on the subclass for one endpoint: the attributes to choose from."""

    offered: ClassVar[choices.Choices] = []

    class Meta:
        model = Column
        fields = ("position", "attribute", "name", "expression")
        widgets = {"expression": forms.Textarea(attrs={"rows": 1})}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "expression" in self.fields:
            dress(self.fields["expression"])
        if "attribute" in self.fields:
            present = choices.with_present(self.offered, self.instance.attribute)
            label = self.fields["attribute"].label
            field = forms.ChoiceField(label=label, choices=present, required=False)
            self.fields["attribute"] = picked(field, "columns")


class InputInline(StackedInline):
    model = Input
    form = InputForm
    formset: type[OrderedFormSet] = OwnFormSet
    folded = True
    fieldsets = (
        (
            None,
            {
                "fields": (
                    ("name", "type"),
                    ("required", "nullable"),
                    "label",
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
    formset: type[OrderedFormSet] = OwnFormSet
    fields = ("attribute", "source", "value_text", "position")

    def get_formset(self, request: HttpRequest, obj: Any = None, **kwargs: Any) -> Any:
        return super().get_formset(request, obj, **{"form": self.form_of(obj), **kwargs})

    def form_of(self, row: Any) -> type[BindingForm]:
        """Return the form for properties of what the endpoint `row` writes."""
        return binding_form(vocabulary_of(row).written, suggestions=_suggestions(row) if row else [])


class ColumnInline(TabularInline):
    model = Column
    form = ColumnForm
    formset = OrderedFormSet
    fields = ("attribute", "name", "expression", "position")

    def get_formset(self, request: HttpRequest, obj: Endpoint | None = None, **kwargs: Any) -> Any:
        form = type("ColumnForm", (ColumnForm,), {"offered": choices.described(vocabulary_of(obj).read)})
        return super().get_formset(request, obj, **{"form": form, **kwargs})


def _suggestions(endpoint: Endpoint) -> list[tuple[str, str]]:
    """Return name and label of each input of the endpoint itself."""
    return [(name, f"@{name}") for name in endpoint.inputs.filter(parent=None).values_list("name", flat=True)]


SECTION_INLINES = {
    Section.INPUTS: InputInline,
    Section.BINDINGS: BindingInline,
    Section.COLUMNS: ColumnInline,
    Section.FETCHERS: FetcherInline,
    Section.PRECONDITIONS: PreconditionInline,
}
