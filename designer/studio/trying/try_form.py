"""The form of a call to be tried, made of what the endpoint asks for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from http import HTTPStatus
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.http import content_disposition_header
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from designer.configuration import Endpoint
from designer.definitions import AccessDefinition, CallerTypeDefinition, RoleDefinition
from designer.models import Role
from designer.models.fields import ExactJSONEncoder
from designer.ports import Attempt, Outcome, Preview
from designer.studio.field_values import typed_value
from designer.studio.look import dress
from designer.studio.trying.asked_attributes import option_labels
from designer.studio.trying.call_fields import UPLOAD, field_name, filled_values, form_field, text_field
from designer.studio.trying.caller_fields import CallerForm
from designer.types import TYPES

DRY, REAL = "dry", "real"
_ANYONE = "anonymous"


class TryForm(CallerForm):
    """The form of a call of an endpoint. Values are texts as people type them. Empty ones are not sent."""

    def __init__(
        self,
        endpoint: Endpoint,
        preview: Preview,
        types: Sequence[CallerTypeDefinition],
        *,
        may_be_real: bool,
        known_roles: Sequence[RoleDefinition] | None = None,
        **kwargs: Any,
    ) -> None:
        """Make the fields of a call. `known_roles` are the roles to choose from, if they are not those that
        are live.
        """
        super().__init__(types, **kwargs)
        self._preview = preview
        self._ask_caller(endpoint.definition.access, known_roles)
        self._ask_place(endpoint)
        labels = option_labels(endpoint)
        for call_field in preview.fields:
            self.fields[field_name(call_field)] = form_field(call_field, labels.get(call_field.name))
        # A button each. The first is what Enter in a field presses, and what keeps the call presses neither.
        modes = [(DRY, _("Dry run")), *([(REAL, _("Call for real"))] if may_be_real else [])]
        help_text = _("A dry run checks everything, changes nothing, and shows no data.")
        self.fields["mode"] = forms.ChoiceField(required=False, choices=modes, help_text=help_text)

    def _ask_caller(self, access: AccessDefinition, known_roles: Sequence[RoleDefinition] | None) -> None:
        """Add the fields for the caller: anonymous or not, the roles, and who it is. `known_roles` as on the
        form.
        """
        if known_roles is None:
            choices = [(role.name, str(role)) for role in Role.objects.all()]
        else:
            choices = [(role.name, role.title or role.name) for role in known_roles]
        self.fields["caller"] = dress(
            forms.ChoiceField(
                label=_("Call as"),
                choices=[("token", _("Somebody with a token")), (_ANYONE, _("Anonymous"))],
                initial="token" if access.authentication_required else _ANYONE,
            )
        )
        self.fields["roles"] = dress(
            forms.MultipleChoiceField(
                label=_("Roles"),
                required=False,
                choices=choices,
                # Any one of the roles may call.
                initial=access.roles[:1],
                widget=forms.CheckboxSelectMultiple,
            )
        )
        self.add_caller_fields()

    def _ask_place(self, endpoint: Endpoint) -> None:
        """Add the fields for the method and for what stands in the path, where the endpoint has any."""
        if endpoint.kind.meanings and len(endpoint.methods) > 1:
            self.fields["method"] = dress(
                forms.ChoiceField(
                    label=_("Method"),
                    choices=[
                        (method, f"{method}: {gettext(endpoint.kind.meanings[method].label)}")
                        for method in endpoint.methods
                    ],
                )
            )
        if endpoint.kind.is_by_id:
            self.fields["record"] = text_field(_("Id of the record"), _("A GUID."), required=True)
        if endpoint.kind.is_by_key:
            hint = _("As in the path. The values of several attributes are separated by commas.")
            self.fields["record"] = text_field(_("Value of the key"), hint, required=True)
        if endpoint.kind.is_on_related_record:
            self.fields["related"] = text_field(_("Id of the related record"), _("A GUID."), required=True)
        if endpoint.item_path:
            self.fields["file"] = text_field(_("Id of the file"), _("Empty: the list of files."))

    def refill(self, values: QueryDict) -> None:
        """Show what has been typed, without judging it. Files cannot be shown again."""
        for name, field in self.fields.items():
            if name in values and not isinstance(field, forms.FileField):
                several = isinstance(field, forms.MultipleChoiceField)
                self.initial[name] = values.getlist(name) if several else values[name]

    def show_refusals(self, outcome: Outcome) -> None:
        """Show what an answer says of single values at their fields."""
        if outcome.status < HTTPStatus.BAD_REQUEST:
            return
        # Reversed: where a query parameter and a header have one name, the answer means the first.
        fields = {call_field.name: field_name(call_field) for call_field in reversed(self._preview.fields)}
        # Other problems than those of values have no `errors`, and some answers are no JSON.
        with suppress(ValueError, TypeError, KeyError):
            for error in json.loads(outcome.body)["errors"]:
                place = error.get("parameter") or error["pointer"].lstrip("/")
                # A place inside a list of records, such as `contacts/0/email`, is said at the list's field.
                name, _slash, inside = place.partition("/")
                if name in fields:
                    sentence = f"{inside}: {error['message']}" if inside else error["message"]
                    self.add_error(fields[name], sentence)

    def attempt(self) -> Attempt:
        """Return the call that the valid form describes."""
        fields = self.cleaned_data
        file = fields.get(UPLOAD)
        content, content_type, headers = self._json_body(), "application/json", self._filled_in("header")
        if file is not None:
            content, content_type = file.read(), file.content_type or "application/octet-stream"
            headers["Content-Disposition"] = content_disposition_header(True, file.name) or ""
        return Attempt(
            roles=fields["roles"],
            caller_type=self.caller_type.name,
            caller_record=self.caller_record,
            claims=self.claims,
            anonymous=fields["caller"] == _ANYONE,
            record=fields.get("record", ""),
            file=fields.get("file", ""),
            related=fields.get("related", ""),
            method=fields.get("method", ""),
            query=self._filled_in("query"),
            headers=headers,
            content=content,
            content_type=content_type,
            dry=fields["mode"] != REAL,
        )

    def _filled_in(self, place: str) -> dict[str, str]:
        """Return the values that were filled in for `place`: `query` or `header`."""
        return filled_values(self._preview.fields, place, self.cleaned_data)

    def _json_body(self) -> bytes:
        """Return the JSON body; empty for an endpoint that takes none."""
        if not self._preview.body:
            return b""
        sent = {
            call_field.name: typed_value(text, TYPES.get(call_field.type))
            for call_field in self._preview.fields
            if call_field.place == "body" and (text := self.cleaned_data[field_name(call_field)])
        }
        return json.dumps(sent, cls=ExactJSONEncoder).encode()
