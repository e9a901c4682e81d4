"""Caller types: which entity a caller's record is in. The administrators' to change."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from designer.definitions import CALLER_TYPES
from designer.loading import latest
from designer.models import CallerType, Endpoint
from designer.studio.look import searchable
from designer.studio.metadata import choices
from designer.studio.metadata.page_metadata import known_metadata
from designer.studio.saving.needed_rows import NeededAdmin
from designer.studio.saving.refusal_form import RefusalForm

_BUILT_IN = {known.name: known for known in CALLER_TYPES}


class CallerTypeForm(RefusalForm):
    """The fields of a caller type. The entity is chosen among those of the platform."""

    class Meta:
        model = CallerType
        fields = ("name", "entity", "title", "description")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # The field is missing where it is only shown.
        if "entity" in self.fields:
            original = self.fields["entity"]
            field = forms.ChoiceField(
                label=original.label,
                choices=choices.with_present(choices.entities(known_metadata()), self.instance.entity),
                required=False,
                help_text=original.help_text,
            )
            self.fields["entity"] = searchable(field)


@admin.register(CallerType)
class CallerTypeAdmin(NeededAdmin):
    form = CallerTypeForm
    change_form_template = "designer/from_metadata.html"
    access_fields = frozenset({"name", "entity"})
    when_empty = gettext_lazy("No caller type yet.")
    fields = ("name", "entity", "title", "description")
    list_display = ("name", "title", "records", "description")
    search_fields = ("name", "title")

    class Media:
        css = {"all": ["designer/studio.css", "designer/endpoint.css"]}

    @admin.display(description=gettext_lazy("Records"))
    def records(self, row: CallerType) -> str:
        if row.is_of_users:
            return _("Users of the platform")
        return row.entity or _("None")

    def entities_named(self, form: Any, formsets: Collection[Any]) -> Iterable[str]:
        return filter(None, [form.instance.entity])

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        # Endpoints and accounts hold the name. The built-in type of users also keeps its records, which are
        # in no entity that is chosen here.
        if obj is None:
            return ()
        built_in = _BUILT_IN.get(obj.name)
        return ("name", "records") if built_in is not None and not built_in.entity else ("name",)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        fixed = "records" in self.get_readonly_fields(request, obj)
        return ("name", "records" if fixed else "entity", "title", "description")

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        may: bool = super().has_delete_permission(request, obj)
        return may and (obj is None or obj.name not in _BUILT_IN)

    def needing(self, objs: Any) -> QuerySet[Endpoint]:
        """Return the endpoints that admit callers of one of the types `objs`."""
        names = {row.name for row in objs}
        ids = [
            id
            for id, endpoint in latest().endpoints.items()
            if not names.isdisjoint(endpoint.definition.access.caller_types)
        ]
        return Endpoint.objects.filter(pk__in=ids)
