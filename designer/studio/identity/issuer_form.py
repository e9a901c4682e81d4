"""The form of an issuer, in sections."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import Any, ClassVar

from django import forms
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from designer.definitions import CallerTypeDefinition
from designer.loading import latest
from designer.models import Issuer, Role, RoleRule
from designer.readiness import Finding
from designer.studio.identity.line_fields import LinesField, PairsField, RequiredClaimsField, as_field
from designer.studio.look import dress, suggesting
from designer.studio.metadata import choices
from designer.studio.metadata.page_metadata import known_metadata
from designer.studio.saving.checked_save import RefusalForm
from designer.token_issuers.issuer_rows import ISSUER_COLUMNS, column_of

_SOURCES = (
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
_MISSING = (
    ("refuse", _("Refuse the caller (403)")),
    ("continue", _("Let the caller go on without a record")),
    ("register", _("Register: make or link a record, once")),
)
_LISTS = ("tenants", "audiences", "readable_claims")

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
    # Findings say “record.claim” or “role_rules.0.claim”; a form has one field for each column.
    renamed: ClassVar[dict[str, str]] = {
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
        if "issuer" not in self.fields:
            return
        for name in _LISTS:
            self._replace(name, LinesField)
        self._replace("required_claims", RequiredClaimsField)
        self._replace("registration_inputs", partial(PairsField, "input", "claim"))
        self._choose("key_source", _SOURCES)
        self._choose("record_missing", _MISSING)
        self._choose("caller_type", _caller_types(self.instance.caller_type))
        self._choose("registration_endpoint", _creates(self.instance.registration_endpoint), required=False)
        self._choose_several("algorithms", [(name, name) for name in _ALGORITHMS])
        self._choose_several("roles", _roles(self.instance.roles or ()))
        attributes = choices.attributes(known_metadata(), _entity(self.instance.caller_type))
        for name in ("record_attribute", "registration_link_attribute"):
            suggesting(self.fields[name], attributes)

    def show_findings(self, findings: Collection[Finding]) -> None:
        """Write each finding into the help text of its field."""
        for finding in findings:
            name = column_of(finding.field)
            if name in self.fields:
                field = self.fields[name]
                sign = "✖" if finding.is_blocking else "⚠"
                field.help_text = format_html(
                    "<strong>{} {}</strong> {}", sign, finding.said, field.help_text
                )

    def _replace(self, name: str, make: Any) -> None:
        self.fields[name] = dress(as_field(make, self.fields[name]))

    def _choose(self, name: str, labelled_values: Any, *, required: bool = True) -> None:
        """Make the field a list to choose one value from."""
        original = self.fields[name]
        self.fields[name] = dress(
            forms.ChoiceField(
                choices=labelled_values,
                label=original.label,
                help_text=original.help_text,
                initial=original.initial,
                required=required,
            )
        )

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
    class Meta:
        model = RoleRule
        fields = ("position", "claim", "shape", "as_named", "grants")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "grants" in self.fields:
            self.fields["grants"] = dress(
                as_field(partial(PairsField, "value", "role"), self.fields["grants"])
            )
            original = self.fields["shape"]
            self.fields["shape"] = dress(
                forms.ChoiceField(
                    choices=_SHAPES, label=original.label, help_text=original.help_text, initial="any"
                )
            )


def _roles(present: Collection[str]) -> list[tuple[str, str]]:
    roles = [(role.name, str(role)) for role in Role.objects.all()]
    names = {name for name, _label in roles}
    return [*roles, *((name, name) for name in present if name not in names)]


def _caller_types(present: str) -> list[tuple[str, str]]:
    caller_types = [(type.name, type.title or type.name) for type in latest().caller_types]
    return (
        caller_types
        if any(name == present for name, _title in caller_types)
        else [*caller_types, (present, present)]
    )


def _creates(present: str) -> list[tuple[str, str]]:
    """Return the choices of endpoints that create records, by key; `present` is kept among them."""
    endpoints = latest().endpoints.values()
    keys = sorted(endpoint.definition.key for endpoint in endpoints if endpoint.kind.makes_new_records)
    if present and present not in keys:
        keys.append(present)
    return [("", "–"), *((key, key) for key in keys)]


def _entity(type: str) -> str:
    definition: CallerTypeDefinition | None = next(
        (caller_type for caller_type in latest().caller_types if caller_type.name == type), None
    )
    return definition.records(known_metadata().users) if definition else ""
