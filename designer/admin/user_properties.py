"""User properties: what `/api/context` says of a caller."""

from __future__ import annotations

from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.http import HttpRequest

from designer.admin import choices
from designer.admin.checked import RefusalForm, SharedAdmin
from designer.admin.inlines import OrderedFormSet
from designer.admin.look import TabularInline, dress, searchable, suggesting
from designer.models import Binding, RelatedColumn, UserProperty
from designer.platform import get_platform
from designer.readiness import Metadata
from designer.readiness.metadata import USER

_KINDS = (
    ("field", "Field of the user's record"),
    ("related", "Related data"),
    ("custom", "Custom: an expression"),
)


class UserPropertyForm(RefusalForm):
    class Meta:
        model = UserProperty
        fields = ("name", "kind", "attribute", "relationship", "expression", "description")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "kind" not in self.fields:
            return
        metadata = Metadata(get_platform())
        self.fields["kind"] = dress(forms.ChoiceField(choices=_KINDS, initial="field"))
        self._choose("attribute", choices.attributes(metadata, USER))
        self._choose("relationship", choices.relationships_of_users(metadata))

    def _choose(self, name: str, offered: choices.Choices) -> None:
        present = choices.with_present(offered, getattr(self.instance, name))
        field = forms.ChoiceField(choices=present, required=False, help_text=self.fields[name].help_text)
        self.fields[name] = searchable(field)


class RelatedColumnForm(forms.ModelForm):  # type: ignore[type-arg]
    suggestions: ClassVar[choices.Choices] = []

    class Meta:
        model = RelatedColumn
        fields = ("position", "attribute", "name")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "attribute" in self.fields:
            suggesting(self.fields["attribute"], self.suggestions)


class RelatedColumnInline(TabularInline):
    model = RelatedColumn
    form = RelatedColumnForm
    formset = OrderedFormSet
    fields = ("attribute", "name", "position")
    verbose_name_plural = "columns of related data"

    def get_formset(self, request: HttpRequest, obj: UserProperty | None = None, **kwargs: Any) -> Any:
        relationship = obj.relationship if obj else ""
        suggestions = choices.related_attributes(Metadata(get_platform()), relationship)
        form = type("RelatedColumnForm", (RelatedColumnForm,), {"suggestions": suggestions})
        return super().get_formset(request, obj, **{"form": form, **kwargs})


@admin.register(UserProperty)
class UserPropertyAdmin(SharedAdmin):
    form = UserPropertyForm
    inlines = (RelatedColumnInline,)
    list_display = ("name", "kind", "source", "description")
    search_fields = ("name", "description")
    ordering_field = "position"
    hide_ordering_field = True

    @admin.display(description="Comes from")
    def source(self, row: UserProperty) -> str:
        return row.attribute or row.relationship or row.expression

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Endpoints that write `@user.…` values keep the property that they need."""
        found, counts, permissions, protected = super().get_deleted_objects(objs, request)
        names = {known.name for known in objs}
        bindings = Binding.objects.filter(source="user").select_related("endpoint__entity__module")
        users = [str(binding.endpoint) for binding in bindings if binding.value in names]
        return found, counts, permissions, [*protected, *users]
