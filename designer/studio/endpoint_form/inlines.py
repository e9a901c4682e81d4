"""The forms and inlines of inputs, entity properties (bindings) and columns, on their endpoint's page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, get_args

from django import forms
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from pydantic import ValidationError

from crmclient.metadata import Attribute
from designer.definitions import BindingSource
from designer.endpoint_facts.query_parameters import takes_list, uses
from designer.kinds import Section
from designer.models import Binding, Column, Endpoint, Input
from designer.studio.endpoint_form.row_formsets import OrderedFormSet, OwnFormSet
from designer.studio.endpoint_form.step_inlines import FetcherInline, PreconditionInline
from designer.studio.field_values import typed_value, value_as_typed
from designer.studio.look import StackedInline, TabularInline, TextArea, dress, with_shared_choices
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
_SOURCE_CHOICES = choices.SharedChoices(
    lambda: [(name, str(_SOURCES[name])) for name in get_args(BindingSource)]
)


class InputForm(forms.ModelForm):  # type: ignore[type-arg]
    """The form of an input. With `takes_lists`, an input may be a list of records."""

    takes_lists: ClassVar[bool] = False

    default_text = dress(
        forms.CharField(
            required=False,
            label=_("Default"),
            strip=False,
            help_text=_(
                "The value that is used when a call leaves the input out. If the query compares with a list, "
                'enter an array, such as ["A", "B"].'
            ),
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
            offered = choices.input_types(self.instance.type, with_records=self.takes_lists)
            self.fields["type"] = dress(
                forms.ChoiceField(label=self.fields["type"].label, choices=offered, initial="String")
            )
        self.initial["default_text"] = value_as_typed(self.instance.default)
        if any(end in self.initial["default_text"] for end in "\r\n"):
            # Browsers join the lines of a text in a field of one line.
            self.fields["default_text"].widget = TextArea(attrs={"rows": 1})
        self.initial["allowed_text"] = "\n".join(value_as_typed(value) for value in self.instance.allowed)

    def clean(self) -> dict[str, Any]:
        """Read the default and the allowed values from their texts, where these or the type have changed."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        input_type = TYPES.get(cleaned.get("type", ""))
        if {"type", "default_text"}.intersection(self.changed_data):
            text = cleaned.get("default_text", "")
            # Blanks belong to a text, but a text of nothing else is no default.
            keeps_blanks = input_type is not None and input_type.is_textual and text.strip()
            self.instance.default = typed_value(
                text if keeps_blanks else text.strip(),
                input_type,
                takes_list=_takes_list(self.instance, cleaned.get("name", "")),
            )
        if {"type", "allowed_text"}.intersection(self.changed_data):
            lines = cleaned.get("allowed_text", "").splitlines()
            self.instance.allowed = [typed_value(line.strip(), input_type) for line in lines if line.strip()]
        return cleaned


def _takes_list(row: Input, name: str) -> bool:
    """Whether the query of the input's endpoint, as its page says it now, compares with a list by the
    parameter `name`.
    """
    # A new input of a record in a list has no endpoint yet.
    endpoint: Endpoint | None = getattr(row, "endpoint", None)
    if endpoint is None or endpoint.operation is None:
        return False
    try:
        query = endpoint.operation.settings.model_validate(endpoint.settings).designed_query
    except ValidationError:
        # The form of the endpoint says what is wrong.
        return False
    return query is not None and takes_list(use for use in uses(query) if use.parameter == name)


class BindingForm(forms.ModelForm):  # type: ignore[type-arg]
    """The form of an entity property. `binding_form` makes a subclass of it for one endpoint.

    The subclass has the attributes that may be set by name (`writable`), and the choices made of them
    (`attribute_choices`). The page holds these once, as a list called `list_name`.
    """

    writable: ClassVar[Mapping[str, Attribute]] = {}
    attribute_choices: ClassVar[choices.ListedChoices] = choices.ListedChoices([])
    list_name: ClassVar[str] = "attributes"

    # A text area, because browsers join the lines in any other field, also of what a script writes into it.
    value_text = dress(
        forms.CharField(
            required=False,
            label=_("Value"),
            strip=False,
            widget=forms.Textarea(attrs={"rows": 1}),
            help_text=_("The name of an input or user property, a constant, or an expression."),
        )
    )

    class Meta:
        model = Binding
        fields = ("position", "attribute", "source")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["value_text"] = value_as_typed(self.instance.value)
        if "attribute" not in self.fields:
            return
        # An attribute that the platform does not know any more stays a choice.
        present = self.attribute_choices.with_present(self.instance.attribute)
        attribute_field = forms.ChoiceField(label=self.fields["attribute"].label, choices=present)
        self.fields["attribute"] = with_shared_choices(attribute_field, self.list_name)
        source_label = self.fields["source"].label
        source_field = forms.ChoiceField(label=source_label, choices=_SOURCE_CHOICES, initial="input")
        self.fields["source"] = dress(source_field)

    def clean(self) -> dict[str, Any]:
        """Read the value from its text, where the text, the source or the attribute has changed."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        text = cleaned.get("value_text", "")
        if not {"value_text", "source", "attribute"}.intersection(self.changed_data):
            return cleaned
        if cleaned.get("source") == "constant":
            self.instance.value = typed_value(text, self._type_of(cleaned.get("attribute", "")))
        else:
            self.instance.value = _without_sign(text.strip())
        return cleaned

    def _type_of(self, name: str) -> InputType | None:
        """Return the input type for constants of the attribute `name`; None for an unknown attribute."""
        attribute = self.writable.get(name)
        return natural_type(attribute) if attribute else None


def binding_form(writable: Mapping[str, Attribute], **more: Any) -> type[BindingForm]:
    """Return a form for entity properties of the attributes `writable`. `more`: as on `BindingForm`."""
    offered = choices.ListedChoices(choices.described(writable))
    class_attributes = {"writable": writable, "attribute_choices": offered, **more}
    return type("BindingForm", (BindingForm,), class_attributes)


def _without_sign(text: str) -> str:
    """Return the name without the sign that people may type before it, such as `@user.`."""
    for prefix in ("@user.", "@fetch.", "@"):
        if text.startswith(prefix):
            return text.removeprefix(prefix)
    return text


class ColumnForm(forms.ModelForm):  # type: ignore[type-arg]
    """The form of a column. The subclass for one endpoint has its attributes in `attribute_choices`."""

    attribute_choices: ClassVar[choices.ListedChoices] = choices.ListedChoices([])

    class Meta:
        model = Column
        fields = ("position", "attribute", "name", "expression")
        # The placeholder lets the styles know an empty expression: by `:placeholder-shown`.
        widgets = {"expression": forms.Textarea(attrs={"rows": 1, "placeholder": " "})}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "expression" in self.fields:
            dress(self.fields["expression"])
        if "attribute" in self.fields:
            present = self.attribute_choices.with_present(self.instance.attribute)
            label = self.fields["attribute"].label
            field = forms.ChoiceField(label=label, choices=present, required=False)
            self.fields["attribute"] = with_shared_choices(field, "columns")


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
        return binding_form(vocabulary_of(row).written)


class ColumnInline(TabularInline):
    model = Column
    form = ColumnForm
    formset = OrderedFormSet
    fields = ("attribute", "name", "expression", "position")

    def get_formset(self, request: HttpRequest, obj: Endpoint | None = None, **kwargs: Any) -> Any:
        attributes = choices.ListedChoices(choices.described(vocabulary_of(obj).read))
        form = type("ColumnForm", (ColumnForm,), {"attribute_choices": attributes})
        return super().get_formset(request, obj, **{"form": form, **kwargs})


SECTION_INLINES = {
    Section.INPUTS: InputInline,
    Section.BINDINGS: BindingInline,
    Section.COLUMNS: ColumnInline,
    Section.FETCHERS: FetcherInline,
    Section.PRECONDITIONS: PreconditionInline,
}
