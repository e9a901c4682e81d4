"""The form of an issuer, in sections."""

from __future__ import annotations

from collections.abc import Collection
from copy import copy
from functools import partial
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from designer.loading import latest
from designer.models import Issuer, Role, RoleRule
from designer.readiness import Finding
from designer.readiness.subjects import Surroundings
from designer.sentences import said
from designer.studio.identity.line_fields import LinesField, PairsField, RequiredClaimsField, field_like
from designer.studio.look import dress, with_suggestions
from designer.studio.metadata import choices
from designer.studio.metadata.page_metadata import known_metadata
from designer.studio.saving.refusal_form import RefusalForm
from designer.token_issuers.issuer_rows import ISSUER_COLUMNS, column_of
from designer.token_issuers.public_keys import refuse_private_keys

_KEY_SOURCES = (
    ("discovery", _("Discovery: the issuer's OpenID configuration names them")),
    ("jwks", _("A key set (JWKS) at the address below")),
    ("pem", _("PEM keys, pasted below")),
)
_ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
_SHAPES = (
    ("any", _("An array, one text, or words")),
    ("array", _("An array of texts")),
    ("words", _("Words with spaces between them")),
    ("commas", _("Values with commas between them")),
    ("text", _("One text")),
)
_RECORD_MISSING = (
    ("refuse", _("Refuse the caller (403)")),
    ("continue", _("Let the caller go on without a record")),
    ("register", _("Register: make or link a record, once")),
)
_LISTS_OF_TEXTS = ("tenants", "audiences", "readable_claims")

# The class of the section that the role rules stand under.
WITH_RULES = "studio-with-rules"

SECTIONS = (
    (
        _("Issuer and keys"),
        {
            "fields": (
                *("name", "issuer", "tenants", "enabled", "description"),
                *("key_source", "key_url", "key_pem"),
            )
        },
    ),
    (_("Accepted tokens"), {"fields": ("audiences", "algorithms", "leeway", "required_claims")}),
    (_("Roles"), {"fields": ("roles", "roles_expression"), "classes": (WITH_RULES,)}),
    (
        _("Record"),
        {
            "fields": (
                *("caller_type", "record_claim", "record_attribute", "record_ignore_case", "record_verified"),
                *("record_missing", "registration_endpoint", "registration_inputs"),
                *("registration_link_claim", "registration_link_attribute", "registration_link_verified"),
                "registration_an_hour",
            )
        },
    ),
    (_("Expressions"), {"fields": ("readable_claims",)}),
)


class IssuerForm(RefusalForm):
    """The form of an issuer, with lists to choose from and fields for lists of texts."""

    # Findings say “record.claim” or “role_rules.0.claim”; a form has one field for each column.
    form_names: ClassVar[dict[str, str]] = {
        **{
            f"{part}__{member}": column_of(f"{part}.{member}")
            for part, members in (
                ("keys", ("source", "url", "pem")),
                ("record", ("type", "claim", "attribute", "ignore_case", "verified", "missing")),
            )
            for member in members
        },
        **{
            f"record__registration__{member}": column_of(f"record.registration.{member}")
            for member in ("endpoint", "inputs", "link_claim", "link_attribute", "link_verified", "an_hour")
        },
    }

    class Meta:
        model = Issuer
        fields = ISSUER_COLUMNS

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Accounts that may only look get a form without fields: the admin shows them the values.
        if "issuer" not in self.fields:
            return
        for name in _LISTS_OF_TEXTS:
            self._replace(name, LinesField)
        self._replace("required_claims", RequiredClaimsField)
        self._replace("registration_inputs", partial(PairsField, "input", "claim"))
        self._choose("key_source", _KEY_SOURCES)
        self._choose("record_missing", _RECORD_MISSING)
        self._choose("caller_type", _caller_types(self.instance.caller_type))
        creating = _endpoints_that_create(self.instance.registration_endpoint)
        self._choose("registration_endpoint", creating, required=False)
        self._choose_several("algorithms", [(name, name) for name in _ALGORITHMS])
        self._choose_several("roles", _roles(self.instance.roles or ()))
        metadata = known_metadata()
        entity = Surroundings(latest(), metadata).entity_of(self.instance.caller_type)
        attributes = choices.attributes(metadata, entity)
        for name in ("record_attribute", "registration_link_attribute"):
            with_suggestions(self.fields[name], attributes)

    def clean_key_pem(self) -> str:
        """Return the PEM keys as typed. A private key is refused, and the page does not show it again."""
        text: str = self.cleaned_data["key_pem"]
        try:
            refuse_private_keys(text)
        except ValueError as error:
            data: Any = copy(self.data)
            data[self.add_prefix("key_pem")] = ""
            self.data = data
            raise ValidationError(said(str(error))) from error
        return text

    def show_findings(self, findings: Collection[Finding]) -> None:
        """Write each finding into the help text of its field. Findings without a field are left out."""
        for finding in findings:
            name = column_of(finding.field)
            if name in self.fields:
                field = self.fields[name]
                sign = "✖" if finding.is_blocking else "⚠"
                field.help_text = format_html(
                    "<strong>{} {}</strong> {}", sign, finding.said, field.help_text
                )

    def _replace(self, name: str, make: Any) -> None:
        """Make the field one that `make` returns, with the same label, help text and initial value."""
        self.fields[name] = dress(field_like(make, self.fields[name]))

    def _choose(self, name: str, labelled_values: Any, *, required: bool = True) -> None:
        """Make the field a list to choose one value from."""
        self.fields[name] = _choice_field(self.fields[name], labelled_values, required=required)

    def _choose_several(self, name: str, labelled_values: Any) -> None:
        """Make the field a list of check boxes."""
        original = self.fields[name]
        self.fields[name] = dress(
            forms.MultipleChoiceField(
                choices=labelled_values,
                label=original.label,
                help_text=original.help_text,
                initial=original.initial,
                required=False,
                widget=forms.CheckboxSelectMultiple,
            )
        )


class RoleRuleForm(forms.ModelForm):  # type: ignore[type-arg]
    """The form of a role rule: which roles the values of a claim give."""

    class Meta:
        model = RoleRule
        fields = ("position", "claim", "shape", "as_named", "grants")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # As on the issuer's form: who may only look gets no fields, so one of them tells of all.
        if "grants" not in self.fields:
            return
        self.fields["grants"] = dress(field_like(partial(PairsField, "value", "role"), self.fields["grants"]))
        self.fields["shape"] = _choice_field(self.fields["shape"], _SHAPES)


def _choice_field(original: forms.Field, labelled_values: Any, *, required: bool = True) -> forms.Field:
    """Return a field to choose one value, with the label, help text and initial value of `original`."""
    return dress(
        forms.ChoiceField(
            choices=labelled_values,
            label=original.label,
            help_text=original.help_text,
            initial=original.initial,
            required=required,
        )
    )


def _roles(present: Collection[str]) -> list[tuple[str, str]]:
    """Return the choices of roles; those of `present` that were deleted are kept among them."""
    roles = [(role.name, str(role)) for role in Role.objects.all()]
    names = {name for name, _label in roles}
    return [*roles, *((name, name) for name in present if name not in names)]


def _caller_types(present: str) -> list[tuple[str, str]]:
    """Return the choices of caller types; `present` is kept among them."""
    titles = {type.name: type.title or type.name for type in latest().caller_types}
    titles.setdefault(present, present)
    return list(titles.items())


def _endpoints_that_create(present: str) -> list[tuple[str, str]]:
    """Return the choices of endpoints that create records, by key; `present` is kept among them."""
    endpoints = latest().endpoints.values()
    keys = sorted(endpoint.definition.key for endpoint in endpoints if endpoint.kind.makes_new_records)
    if present and present not in keys:
        keys.append(present)
    return [("", "–"), *((key, key) for key in keys)]
