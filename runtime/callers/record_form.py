"""The part of a form that says which record calls stand for: the caller type, and a record of its entity."""

from __future__ import annotations

import uuid
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from crmclient import parse_guid
from crmclient.errors import MissingPrivilege, PlatformError, RecordNotFound
from designer.models import CallerType
from designer.names import USER_TYPE
from designer.platform import get_platform
from designer.platform_failures import failure_words
from designer.studio.look import dress, searchable
from designer.studio.trying.caller_fields import is_known_missing, record_field
from runtime.callers.platform_users import platform_users


class _PlatformUserField(forms.TypedChoiceField):
    """A user of the platform: one of the choices or, as the list has an end, the id of any other user.

    `unreadable` says why the choices could not be read; empty if they could.
    """

    def __init__(self, *, unreadable: str, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._unreadable = unreadable

    def to_python(self, value: Any) -> str:
        """Return the id in its canonical form. A text that is no id is left, and refused as no choice."""
        text: str = super().to_python(value)
        try:
            return parse_guid(text) if text else text
        except ValueError:
            return text

    def valid_value(self, value: Any) -> bool:
        """Whether a user has this id. Raises ValidationError where the platform cannot be asked."""
        if super().valid_value(value):
            return True
        if self._unreadable:
            raise forms.ValidationError(self._unreadable)
        try:
            get_platform().user(parse_guid(value))
        except (ValueError, RecordNotFound):
            return False
        except PlatformError as error:
            raise forms.ValidationError(failure_words(error)) from error
        return True


class RecordForm(forms.ModelForm):  # type: ignore[type-arg]  # no generic at run time
    """The form of a model with `caller_type` and `record`.

    Users of the platform are chosen by name, other records by their id.
    """

    # Its choices are known when the form is made.
    platform_user = forms.TypedChoiceField(required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        dress(self.fields["caller_type"])
        self.fields["platform_user"] = self._platform_user_field()
        self.fields["record"] = self._record_field()
        if self._is_user:
            self.initial["record"] = None

    def _platform_user_field(self) -> forms.Field:
        """Return a list of the platform's users. If they cannot be read, it has only the present choice."""
        present_user = str(self.instance.record or "") if self._is_user else ""
        unreadable = ""
        help_text: Any = _(
            "For the type user: the platform user that the calls stand for. “@user” values are this user's."
        )
        try:
            users = dict(platform_users(get_platform()))
        except MissingPrivilege as error:
            users, unreadable = {}, failure_words(error)
            help_text = _(
                "The service's account on the platform lacks the privilege %(privilege)s, so only the "
                "present choice can be kept."
            ) % {"privilege": error.privilege}
        except PlatformError as error:
            users, unreadable = {}, failure_words(error)
            help_text = _("%(reason)s Until then, you can only keep the present choice.") % {
                "reason": unreadable
            }
        if present_user and present_user not in users:
            users[present_user] = _("%(user)s (not among the platform's users)") % {"user": present_user}
        return searchable(
            _PlatformUserField(
                unreadable=unreadable,
                label=_("Platform user"),
                choices=[("", _("None: no user context")), *users.items()],
                coerce=lambda text: uuid.UUID(str(text)),
                empty_value=None,
                required=False,
                initial=present_user,
                help_text=help_text,
            )
        )

    def _record_field(self) -> forms.Field:
        """Return the field for the id of a record that is no platform user."""
        return dress(
            record_field(
                _("Record"),
                _("For other types: the id of the record that the calls stand for, in the type's entity."),
            )
        )

    @property
    def _is_user(self) -> bool:
        """Whether the row in the form is of the caller type `user`."""
        return bool(self.instance.caller_type_id == USER_TYPE)

    def clean_rate(self) -> int:
        """Return the limit in requests a minute. An empty field means 0, no limit of its own."""
        return self.cleaned_data["rate"] or 0

    def clean(self) -> dict[str, Any]:
        """Check the form. `record` then has the platform user or the record, as the caller type says."""
        cleaned = super().clean() or self.cleaned_data
        type = cleaned.get("caller_type")
        if type is None:
            return cleaned
        user, record = cleaned.get("platform_user"), cleaned.get("record")
        # The type says which of the two counts: the other may be left from another type.
        if type.is_of_users:
            if record is not None and user is None and "record" in self.changed_data:
                self.add_error("record", _("Callers of this type are platform users. Choose one above."))
            cleaned["record"] = user
        elif record is not None:
            self._check_record(type, record)
        return cleaned

    def _check_record(self, type: CallerType, record: uuid.UUID) -> None:
        """Add an error when the type has no records, or the platform has no record with this id."""
        if not type.entity:
            self.add_error("record", _("Callers of this type have no record. Leave it empty."))
            return
        # What cannot be asked now is found out when somebody calls.
        if is_known_missing(type.entity, str(record)):
            sentence = _("There is no record of %(entity)s with this id.") % {"entity": type.entity}
            self.add_error("record", sentence)
