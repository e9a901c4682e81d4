"""Issuers: whose tokens are accepted. What they hold is said by `designer.definitions.issuers`."""

from __future__ import annotations

from django.core.validators import MaxValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from designer.definitions import LONGEST_LEEWAY

LONGEST_NAME = 100


def _rs256() -> list[str]:
    return ["RS256"]


class Issuer(models.Model):
    """One issuer. Lists are JSON: nothing else refers to what is in them."""

    name = models.CharField(
        _("name"), max_length=LONGEST_NAME, unique=True, help_text=_("The name of the issuer in the studio.")
    )
    issuer = models.CharField(
        _("issuer"),
        max_length=500,
        help_text=_(
            "The “iss” of the issuer's tokens, exactly: a final / makes a difference. With "
            "{tenantid}, there is one issuer for each tenant below."
        ),
    )
    tenants = models.JSONField(
        _("tenants"),
        default=list,
        blank=True,
        help_text=_("The tenants of an issuer with {tenantid}, one a line."),
    )
    enabled = models.BooleanField(
        _("enabled"), default=True, help_text=_("Accept the tokens of this issuer.")
    )
    description = models.TextField(_("description"), blank=True, help_text=_("Whose callers these are."))

    key_source = models.CharField(
        _("keys"), max_length=20, default="discovery", help_text=_("Where the issuer's public keys are.")
    )
    key_url = models.CharField(
        _("address"),
        max_length=500,
        blank=True,
        help_text=_(
            "The address of the OpenID configuration or of the key set. If it is empty, "
            "/.well-known/openid-configuration under the issuer is used."
        ),
    )
    key_pem = models.TextField(
        _("PEM keys"),
        blank=True,
        help_text=_(
            "The issuer's public keys, one after another. Enter both the old and the new key "
            "while the issuer changes its key."
        ),
    )

    audiences = models.JSONField(
        _("audiences"),
        default=list,
        blank=True,
        help_text=_("Who the tokens are for (“aud”), one audience per line. A token needs one of them."),
    )
    algorithms = models.JSONField(
        _("algorithms"),
        default=_rs256,
        blank=True,
        help_text=_("The algorithms that the issuer's tokens may be signed with."),
    )
    leeway = models.PositiveIntegerField(
        _("leeway"),
        default=60,
        validators=[MaxValueValidator(LONGEST_LEEWAY)],
        help_text=_("How many seconds the issuer's clock may differ from the clock of this service."),
    )
    required_claims = models.JSONField(
        _("required claims"),
        default=list,
        blank=True,
        help_text=_(
            "A claim and the values that are allowed, one claim per line, such as tid = "
            "11111111-… or azp = portal, app. A token needs one of the values. A claim without "
            "values only has to be in the token."
        ),
    )

    roles = models.JSONField(
        _("roles of every caller"),
        default=list,
        blank=True,
        help_text=_("Roles that every caller of this issuer has."),
    )
    roles_expression = models.TextField(
        _("expression"),
        blank=True,
        help_text=_(
            "CEL over “claims” and “record” that gives a role, or a list of roles. "
            "Use it where role rules are not enough."
        ),
    )

    caller_type = models.CharField(
        _("caller type"), max_length=63, default="user", help_text=_("The type of the issuer's callers.")
    )
    record_claim = models.CharField(
        _("claim"),
        max_length=500,
        blank=True,
        help_text=_(
            "The claim that names the caller's record, such as oid, sub or emails[0]. If it "
            "is empty, callers have no record."
        ),
    )
    record_attribute = models.CharField(
        _("attribute"),
        max_length=128,
        blank=True,
        help_text=_(
            "The attribute that holds the claim's value. If it is empty, the claim is the record's id."
        ),
    )
    record_ignore_case = models.BooleanField(
        _("ignore case"), default=False, help_text=_("Treat ADA and ada as the same value.")
    )
    record_verified = models.CharField(
        _("verified by"),
        max_length=500,
        blank=True,
        help_text=_(
            "A claim that has to be true, such as email_verified. An e-mail address needs such a "
            "claim, because anybody can enter somebody else's address."
        ),
    )
    record_missing = models.CharField(
        _("no record"),
        max_length=20,
        default="refuse",
        help_text=_("What happens to a caller without a record."),
    )

    registration_endpoint = models.CharField(
        _("Create endpoint"),
        max_length=400,
        blank=True,
        help_text=_("The endpoint that creates the record of a caller who has none."),
    )
    registration_inputs = models.JSONField(
        _("its inputs"),
        default=list,
        blank=True,
        help_text=_(
            "An input of the endpoint and the claim that fills it, one pair per line, such as "
            "lastname = family_name."
        ),
    )
    registration_link_claim = models.CharField(
        _("link by claim"),
        max_length=500,
        blank=True,
        help_text=_(
            "A claim such as email. If a record has the value of the claim and belongs to no "
            "caller yet, it becomes the caller's record."
        ),
    )
    registration_link_attribute = models.CharField(
        _("link by attribute"),
        max_length=128,
        blank=True,
        help_text=_("The attribute that is compared with the claim."),
    )
    registration_link_verified = models.CharField(
        _("link verified by"),
        max_length=500,
        default="email_verified",
        blank=True,
        help_text=_("The claim that has to be true before a record is linked."),
    )
    registration_an_hour = models.PositiveIntegerField(
        _("registrations an hour"),
        default=600,
        help_text=_("How many callers may be registered in an hour. 0 means none."),
    )

    readable_claims = models.JSONField(
        _("readable claims"),
        default=list,
        blank=True,
        help_text=_("Claims that expressions may read as user.claims.…, one path a line."),
    )

    class Meta:
        verbose_name = _("issuer")
        verbose_name_plural = _("issuers")
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


class RoleRule(models.Model):
    """Roles out of one claim. Rules are asked in their order; each may give roles."""

    issuer = models.ForeignKey(Issuer, on_delete=models.CASCADE, related_name="role_rules")
    position = models.PositiveIntegerField(default=0)
    claim = models.CharField(
        _("claim"),
        max_length=500,
        help_text=_(
            "The claim that holds the values, such as roles, groups, realm_access.roles, "
            'or in quotes: "https://contoso.example/roles".'
        ),
    )
    shape = models.CharField(
        _("shape"), max_length=20, default="any", help_text=_("How the claim holds its values.")
    )
    as_named = models.BooleanField(
        _("as named"), default=False, help_text=_("Each value is the name of a role.")
    )
    grants = models.JSONField(
        _("values and roles"),
        default=list,
        blank=True,
        help_text=_(
            "A value of the claim and the role that it gives, one pair per line, such as "
            "Sales = sales-rep. A value may be on several lines."
        ),
    )

    class Meta:
        verbose_name = _("role rule")
        verbose_name_plural = _("role rules")
        ordering = ("position", "id")

    def __str__(self) -> str:
        return self.claim
