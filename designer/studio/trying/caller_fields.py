"""The part of a form that says who calls: the type of caller, and the record that the caller stands for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jiter
from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from crmclient import Guid
from crmclient.errors import MetadataError, PlatformError, RecordNotFound
from designer.definitions import CallerTypeDefinition
from designer.loading import latest
from designer.names import USER_TYPE
from designer.platform import get_platform
from designer.studio.field_values import can_be_stored
from designer.studio.look import dress, searchable
from designer.studio.trying.call_fields import user_field

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

# Has the names of the caller types for which `caller_fields.js` shows a field.
_CALLER_TYPES_ATTRIBUTE = "data-caller-types"


class _ClaimsField(forms.Field):
    """The claims of a token, as a JSON object. An empty field stands for no claims."""

    def to_python(self, value: Any) -> dict[str, Any]:
        """Return the claims. Raises ValidationError for other JSON, and for what cannot be stored."""
        try:
            claims = jiter.from_json(str(value or "{}").encode(), allow_inf_nan=False)
        except ValueError as error:
            # Also for objects that are nested too deeply, and for numbers of thousands of digits.
            raise forms.ValidationError(forms.JSONField.default_error_messages["invalid"]) from error
        if not isinstance(claims, dict) or not can_be_stored(claims):
            raise forms.ValidationError(gettext('Write a JSON object, such as {"tier": "gold"}.'))
        return claims


class ClaimsForm(forms.Form):
    """A form that asks for the claims of a caller's token, where some issuer lets expressions read any."""

    def add_claims_field(self) -> None:
        """Add the claims field, if expressions may read any claim.

        A form calls this where the field should stand.
        """
        if paths := _readable_claims():
            claims = _ClaimsField(
                label=_("Claims"),
                required=False,
                help_text=_("What expressions read as “user.claims”: %(paths)s. A JSON object.")
                % {"paths": ", ".join(paths)},
                widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
            )
            self.fields["claims"] = dress(claims)

    @property
    def claims(self) -> dict[str, Any]:
        """Return the claims in the valid form."""
        return self.cleaned_data.get("claims") or {}


class CallerForm(ClaimsForm):
    """A form that asks for the type of the caller, one of `types`, and for the caller's record.

    A platform user is chosen by name, another record by its id. The type is not asked for when platform users
    are the only type.
    """

    def __init__(self, types: Sequence[CallerTypeDefinition], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._types = {type.name: type for type in types}

    def add_caller_fields(self) -> None:
        """Add the fields. A form calls this where the fields should stand."""
        asks_type = set(self._types) != {USER_TYPE}
        if asks_type:
            self.fields["caller_type"] = type_field(tuple(self._types.values()))
        if USER_TYPE in self._types:
            user = user_field()
            if asks_type:
                user.help_text = _("For user: row rules and @user values are this user's.")
                user.widget.attrs[_CALLER_TYPES_ATTRIBUTE] = USER_TYPE
            self.fields["user"] = searchable(user)
        types_with_records = [
            type.name for type in self._types.values() if type.entity and not type.is_of_users
        ]
        if types_with_records:
            record = record_field(
                _("Id of the caller's record"),
                _(
                    "For %(types)s: row rules and @user values are this record's. Leave the field empty to "
                    "call without a record."
                )
                % {"types": ", ".join(types_with_records)},
            )
            record.widget.attrs[_CALLER_TYPES_ATTRIBUTE] = " ".join(types_with_records)
            self.fields["caller_record"] = dress(record)
        self.add_claims_field()

    @property
    def caller_type(self) -> CallerTypeDefinition:
        """Return the type chosen in the valid form, or the first type where the form does not ask."""
        return self._types[self.cleaned_data.get("caller_type") or next(iter(self._types))]

    @property
    def caller_record(self) -> Guid | None:
        """Return the id of the record in the valid form; None without one."""
        if self.caller_type.is_of_users:
            record_id = self.cleaned_data.get("user")
        elif self.caller_type.entity:
            record_id = self.cleaned_data.get("caller_record")
        else:
            # The field may still hold what was typed for another type.
            return None
        return str(record_id) if record_id else None

    def clean(self) -> dict[str, Any]:
        """Refuse a record that the platform does not have. Platform users come from a list, and exist."""
        cleaned = super().clean() or self.cleaned_data
        if "caller_type" in self.errors or self.caller_type.is_of_users or self.caller_record is None:
            return cleaned
        entity = self.caller_type.entity
        if is_known_missing(entity, self.caller_record):
            message = gettext("There is no record of %(entity)s with this id.") % {"entity": entity}
            self.add_error("caller_record", message)
        return cleaned


def _readable_claims() -> list[str]:
    """Return the paths of the claims that an enabled issuer lets expressions read."""
    issuers = latest().issuers
    return sorted({path for issuer in issuers if issuer.enabled for path in issuer.readable_claims})


def record_field(label: str | _StrPromise, help_text: str | _StrPromise = "") -> forms.UUIDField:
    """Return a field for the id of a record, which may stay empty."""
    return forms.UUIDField(
        label=label,
        required=False,
        help_text=help_text,
        error_messages={
            "invalid": _("Enter the record's id, a GUID such as 3f2504e0-4f89-41d3-9a0c-0305e82c3301.")
        },
    )


def type_field(types: Sequence[CallerTypeDefinition]) -> forms.ChoiceField:
    """Return a field to choose one of `types`. The first is chosen to begin with."""
    return dress(
        forms.ChoiceField(
            label=_("Caller type"),
            required=False,
            choices=[(type.name, labelled(type)) for type in types],
            initial=types[0].name,
        )
    )


def labelled(type: CallerTypeDefinition) -> str:
    """Return “Title (name)”, or only the name of a type without a title."""
    return f"{type.title} ({type.name})" if type.title else type.name


def is_known_missing(entity: str, record: Guid) -> bool:
    """Whether the platform says that the record, or its entity, does not exist.

    False while the platform cannot be reached: the tried call shows that failure.
    """
    try:
        get_platform().retrieve(entity, record, ())
    except (RecordNotFound, MetadataError):
        return True
    except PlatformError:
        return False
    return False
