"""User properties: what `/api/context` says of a caller."""

from __future__ import annotations

from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path, reverse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from designer.loading import latest
from designer.models import Binding, Endpoint, RelatedColumn, UserProperty
from designer.names import USER_TYPE
from designer.readiness.subjects import Surroundings
from designer.studio.endpoint_form.page_data import user_data
from designer.studio.endpoint_form.row_formsets import OrderedFormSet
from designer.studio.look import TabularInline, dress, searchable, with_suggestions
from designer.studio.metadata import choices
from designer.studio.metadata.page_metadata import known_metadata
from designer.studio.navigation.request_overview import overview_for
from designer.studio.saving.needed_rows import NeededAdmin
from designer.studio.saving.refusal_form import RefusalForm
from designer.studio.trying.try_page import FOR_REAL
from designer.studio.trying.user_examples import UserExampleForm, stored_property, user_example_view

_EXAMPLE = "designer_userproperty_example"
_KINDS = (
    ("field", _("Field of the user's record")),
    ("related", _("Related data")),
    ("custom", _("Custom: an expression")),
)


class UserPropertyForm(RefusalForm):
    """The fields of a user property. What it can come from depends on the entity of its caller type."""

    class Meta:
        model = UserProperty
        fields = ("caller_type", "name", "kind", "attribute", "relationship", "expression", "description")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Accounts that may only look get a form without fields.
        if "kind" not in self.fields:
            return
        metadata = known_metadata()
        entity = Surroundings(latest(), metadata).entity_of(self.chosen_type())
        if "caller_type" in self.fields:
            dress(self.fields["caller_type"])
        self.fields["kind"] = dress(forms.ChoiceField(label=_("Kind"), choices=_KINDS, initial="field"))
        self._choose("attribute", choices.attributes(metadata, entity))
        self._choose("relationship", choices.relationships(metadata, entity))

    def chosen_type(self) -> str:
        """Return the name of the property's caller type; for a new property, that of the type chosen last."""
        if self.instance.pk is None:
            chosen = self.data.get("caller_type") if self.is_bound else self.initial.get("caller_type")
            return str(chosen or USER_TYPE)
        return str(self.instance.caller_type_id)

    def _choose(self, name: str, offered: choices.Choices) -> None:
        """Make the field a list of `offered` choices, with its present value even if not offered."""
        present = choices.with_present(offered, getattr(self.instance, name))
        original = self.fields[name]
        field = forms.ChoiceField(
            label=original.label, choices=present, required=False, help_text=original.help_text
        )
        self.fields[name] = searchable(field)


class RelatedColumnForm(forms.ModelForm):  # type: ignore[type-arg]
    """A column of a property with related data. `suggestions` are attributes of the related entity."""

    suggestions: ClassVar[choices.Choices] = []

    class Meta:
        model = RelatedColumn
        fields = ("position", "attribute", "name")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "attribute" in self.fields:
            with_suggestions(self.fields["attribute"], self.suggestions)


class RelatedColumnInline(TabularInline):
    model = RelatedColumn
    form = RelatedColumnForm
    formset = OrderedFormSet
    fields = ("attribute", "name", "position")
    verbose_name_plural = _("columns of related data")

    def get_formset(self, request: HttpRequest, obj: UserProperty | None = None, **kwargs: Any) -> Any:
        relationship = obj.relationship if obj else ""
        metadata = known_metadata()
        entity = Surroundings(latest(), metadata).entity_of(str(obj.caller_type_id)) if obj else ""
        suggestions = choices.related_attributes(metadata, entity, relationship)
        # The admin makes the forms of the rows: what they suggest can only be told to their class.
        form = type("RelatedColumnForm", (RelatedColumnForm,), {"suggestions": suggestions})
        return super().get_formset(request, obj, **{"form": form, **kwargs})


@admin.register(UserProperty)
class UserPropertyAdmin(NeededAdmin):
    form = UserPropertyForm
    when_empty = _("No user property yet. They are what callers learn of themselves, and “@user” values.")
    inlines = (RelatedColumnInline,)
    access_fields = frozenset({"kind", "attribute", "relationship", "expression"})
    list_display = ("name", "caller_type", "kind_label", "source", "description")
    list_filter = ("caller_type",)
    list_select_related = ("caller_type",)
    search_fields = ("name", "description")
    ordering_field = "position"
    hide_ordering_field = True
    change_form_template = "designer/user_property.html"

    class Media:
        css = {"all": ["designer/studio.css", "designer/endpoint.css"]}
        js = [
            *("designer/rows.js", "designer/suggestions.js"),
            *("designer/user_example.js", "designer/caller_type.js"),
        ]

    def get_urls(self) -> list[URLPattern]:
        added = [
            path("add/example/", self.admin_site.admin_view(self.example_view), name=f"{_EXAMPLE}_new"),
            path("<path:object_id>/example/", self.admin_site.admin_view(self.example_view), name=_EXAMPLE),
        ]
        return [*added, *super().get_urls()]

    @method_decorator(require_POST)
    def example_view(self, request: HttpRequest, object_id: str = "") -> HttpResponse:
        row = stored_property(self, request, object_id) if object_id else None
        return user_example_view(self, request, row)

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], **kwargs: Any
    ) -> HttpResponse:
        row = kwargs.get("obj")
        context["page_data"] = user_data(overview_for(request).configuration, known_metadata(), custom=False)
        # Accounts that may only look get a form without fields.
        if request.user.has_perm(FOR_REAL) and context["adminform"].form.fields:
            form = context["adminform"].form
            context["example_form"] = UserExampleForm(caller_type=form.chosen_type())
            context["example_url"] = (
                reverse(f"admin:{_EXAMPLE}", args=[row.pk]) if row else reverse(f"admin:{_EXAMPLE}_new")
            )
        response: HttpResponse = super().render_change_form(request, context, **kwargs)
        return response

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        # The property names attributes of the entity of its caller type: another type is another property.
        return ("caller_type",) if obj else ()

    @admin.display(description=_("Kind"), ordering="kind")
    def kind_label(self, row: UserProperty) -> Any:
        return dict(_KINDS).get(row.kind, row.kind)

    @admin.display(description=_("Comes from"))
    def source(self, row: UserProperty) -> str:
        return row.attribute or row.relationship or row.expression

    def needing(self, objs: Any) -> QuerySet[Endpoint]:
        """Return the endpoints that write the value of one of the properties `objs`."""
        names = {row.name for row in objs}
        bound = Binding.objects.filter(source="user").values_list("endpoint", "value")
        return Endpoint.objects.filter(pk__in={endpoint for endpoint, value in bound if value in names})
