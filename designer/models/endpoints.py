"""Endpoints: one operation each."""

from __future__ import annotations

from typing import Any, ClassVar

import pydantic
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models.functions import Coalesce
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from designer.kinds import KINDS, OperationKind, Scope
from designer.kinds.option_sets import GLOBAL_OPTION_SET
from designer.models import names
from designer.models.context import Role
from designer.models.fields import ExactJSONDecoder, ExactJSONEncoder
from designer.models.modules import ExposedEntity, Module
from designer.names import TYPES_BEFORE_TYPES, USER_TYPE
from designer.sentences import isolated


def admitted() -> list[str]:
    """Return the caller types that a new endpoint admits: only users, so that no new issuer opens an
    endpoint.
    """
    return [USER_TYPE]


class Endpoint(models.Model):
    """One operation with its path and access. `settings` is what only its kind needs, in JSON form.

    An endpoint of an entity belongs to that entity's module; `module` is for kinds that have no entity.
    `acknowledgements` are objects: the `entity` that it reaches past row rules on purpose, the `reason`, and
    who has said so (`account`) and when (`at`), which are no part of the configuration. `example_calls` are
    in JSON form.
    """

    kind = models.CharField(max_length=40, help_text=_("What a call of the endpoint does."))
    module = models.ForeignKey(
        Module, null=True, blank=True, on_delete=models.PROTECT, related_name="endpoints"
    )
    entity = models.ForeignKey(
        ExposedEntity, null=True, blank=True, on_delete=models.PROTECT, related_name="endpoints"
    )
    segment = models.CharField(
        max_length=63,
        blank=True,
        validators=[names.segment],
        help_text=_("The endpoint's own segment of the path. Leave it empty to use the entity's segment."),
    )
    name = models.CharField(
        max_length=63,
        blank=True,
        validators=[names.segment],
        help_text=_("The name in the path, for kinds whose path ends in one."),
    )
    title = models.CharField(
        max_length=200, blank=True, help_text=_("The title of the endpoint in the API docs: one line.")
    )
    description = models.TextField(blank=True, help_text=_("What callers should know, for the API docs."))
    translations = models.JSONField(default=dict, db_default={}, blank=True, editable=False)
    enabled = models.BooleanField(
        default=True,
        help_text=_(
            "Callers can call the endpoint. Switch this off to keep an unfinished endpoint as a draft."
        ),
    )
    authentication_required = models.BooleanField(
        default=True,
        help_text=_(
            "Callers need a token. If this is switched off, anyone may call, and roles have no effect."
        ),
    )
    roles = models.ManyToManyField(
        Role,
        through="EndpointRole",
        blank=True,
        related_name="endpoints",
        help_text=_(
            "Callers with any one of these roles may call. If you choose no role, every "
            "authenticated caller may call."
        ),
    )
    caller_types = models.JSONField(
        default=admitted,
        db_default=TYPES_BEFORE_TYPES,
        # None is for what anybody may call, and for drafts; a finding tells of the others.
        blank=True,
        help_text=_(
            "Which types of caller may call the endpoint. If you also choose roles, a caller "
            "needs one of them, too."
        ),
    )
    row_rule = models.TextField(
        blank=True,
        help_text=_("Which records this endpoint reaches, of those that the entity's row rule allows."),
    )
    settings = models.JSONField(
        default=dict, blank=True, encoder=ExactJSONEncoder, decoder=ExactJSONDecoder, editable=False
    )

    acknowledgements = models.JSONField(default=list, db_default=[], blank=True, editable=False)
    example_calls = models.JSONField(
        default=list,
        db_default=[],
        blank=True,
        encoder=ExactJSONEncoder,
        decoder=ExactJSONDecoder,
        editable=False,
    )

    class Meta:
        ordering = ("module__segment", "entity__segment", "kind", "name", "id")
        constraints = [
            models.UniqueConstraint(
                Coalesce("module", 0),
                Coalesce("entity", 0),
                "kind",
                "segment",
                "name",
                name="designer_endpoint_key",
                violation_error_message=_("There is an endpoint of this kind at this place already."),
            )
        ]

    def __str__(self) -> str:
        """Return the kind and the title; the title alone when it begins with the kind, in English or as the
        reader knows it.
        """
        title, kind = self.title or self.path, self.operation
        if kind is not None and title.startswith((kind.label, gettext(kind.label))):
            return title  # it says what it does already
        # A path begins with a sign that a text from right to left would move to its other end.
        return f"{gettext(kind.label) if kind else self.kind}: {isolated(title)}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Store the row. An endpoint of an entity is always in the module of that entity."""
        if self.entity is not None:
            self.module = self.entity.module
        super().save(*args, **kwargs)

    @property
    def operation(self) -> OperationKind | None:
        """The kind of the endpoint; None for a kind that no package of this service registers."""
        return KINDS.get(self.kind)

    @property
    def methods(self) -> tuple[str, ...]:
        """Return the methods that the endpoint takes; those of its kind while its settings cannot be read."""
        if self.operation is None:
            return ()
        try:
            settings = self.operation.settings.model_validate(self.settings)
        except pydantic.ValidationError:
            return self.operation.methods
        return settings.methods(self.operation.methods)

    @property
    def path(self) -> str:
        """Return the path as far as it is known: a draft may lack parts of it."""
        if self.operation is None:
            return ""
        module = self.entity.module if self.entity else self.module
        return self.operation.path_of(
            module=module.segment if module else "…",
            segment=self.segment or (self.entity.segment if self.entity else "…"),
            name=self.name or "…",
        )

    @property
    def methods_and_path(self) -> str:
        """Return the address as callers know it, such as `POST /api/sales/accounts`, as far as it is
        known.
        """
        return f"{', '.join(self.methods)} {self.path}"

    def clean(self) -> None:
        """Check the kind and the place of the endpoint. Raises ValidationError."""
        if self.operation is None:
            kinds = ", ".join(sorted(KINDS))
            sentence = gettext("There is no kind “%(kind)s”; choose one of %(known)s.")
            raise ValidationError({"kind": sentence % {"kind": self.kind, "known": kinds}})
        self._clean_place(self.operation.scope)

    def _clean_place(self, scope: Scope) -> None:
        """Take the module of the exposed entity. Raises ValidationError for an entity or module that the kind
        cannot have.
        """
        if self.entity and scope is not Scope.ENTITY:
            raise ValidationError({"entity": _("This kind belongs to no entity.")})
        if self.module and scope is Scope.GLOBAL:
            raise ValidationError({"module": _("This kind belongs to no module.")})
        if self.entity:
            self.module = self.entity.module


class EndpointRole(models.Model):
    """One role that may call an endpoint.

    A role in use cannot be deleted: its endpoints would open to everyone.
    """

    endpoint = models.ForeignKey(Endpoint, on_delete=models.CASCADE, related_name="+")
    role = models.ForeignKey(Role, on_delete=models.PROTECT, related_name="+")

    class Meta:
        db_table = "designer_endpoint_roles"
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=("endpoint", "role"), name="designer_endpoint_role")]

    def __str__(self) -> str:
        return f"{self.endpoint}: {self.role}"


class OptionSets(models.Manager["OptionSet"]):
    """The endpoints that are global option sets."""

    def get_queryset(self) -> models.QuerySet[OptionSet]:
        return super().get_queryset().filter(kind=OptionSet.KIND)


class OptionSet(Endpoint):
    """A global option set: an endpoint with a place of its own in the studio's tree."""

    KIND: ClassVar[str] = GLOBAL_OPTION_SET.name

    objects: ClassVar[OptionSets] = OptionSets()

    class Meta:
        proxy = True
        verbose_name = _("option set")
        ordering = ("name", "id")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Make a row. A new one gets the kind of a global option set, as forms do not offer the kind."""
        super().__init__(*args, **kwargs)
        if self._state.adding and not self.kind:
            self.kind = self.KIND
