"""What an endpoint's callers may send, and where it goes."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_lazy as _

from designer.models import names
from designer.models.endpoints import Endpoint
from designer.models.fields import ExactDecimalField, ExactJSONDecoder, ExactJSONEncoder


class Input(models.Model):
    """One named value that callers send. Limits that are empty are the attribute's own.

    Those with a `parent`, an input of type List, are inputs of each of its items.
    """

    endpoint = models.ForeignKey(Endpoint, on_delete=models.CASCADE, related_name="inputs")
    parent = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.CASCADE, related_name="inputs", editable=False
    )
    position = models.PositiveIntegerField(default=0)
    name = models.CharField(
        max_length=63, validators=[names.input_name], help_text=_("The key that callers send.")
    )
    type = models.CharField(
        max_length=40, default="String", help_text=_("The type of value that callers may send.")
    )
    required = models.BooleanField(
        default=False,
        help_text=_("A call without this input is refused, unless the input has a default. Null is refused."),
    )
    nullable = models.BooleanField(
        default=True, help_text=_("Callers may send null, which leaves or makes the attribute empty.")
    )
    default = models.JSONField(
        null=True,
        blank=True,
        encoder=ExactJSONEncoder,
        decoder=ExactJSONDecoder,
        help_text=_("The value that is used when a call leaves the input out."),
    )
    label = models.CharField(
        max_length=200,
        blank=True,
        db_default="",
        help_text=_(
            "The name that forms show. If it is empty, forms show the platform's label of the attribute."
        ),
    )
    description = models.TextField(blank=True, help_text=_("What to send, for readers of the API docs."))
    translations = models.JSONField(default=dict, db_default={}, blank=True, editable=False)
    minimum = ExactDecimalField(null=True, blank=True, help_text=_("The smallest number accepted."))
    maximum = ExactDecimalField(null=True, blank=True, help_text=_("The largest number accepted."))
    min_length = models.PositiveIntegerField(
        _("minimum length"),
        null=True,
        blank=True,
        help_text=_("How many characters the value must have at least."),
    )
    max_length = models.PositiveIntegerField(
        _("maximum length"),
        null=True,
        blank=True,
        help_text=_("How many characters the value may have at most."),
    )
    pattern = models.CharField(
        max_length=500, blank=True, help_text=_("A regular expression (RE2) that the whole text must match.")
    )
    allowed = models.JSONField(
        _("allowed values"),
        default=list,
        blank=True,
        encoder=ExactJSONEncoder,
        decoder=ExactJSONDecoder,
        help_text=_(
            "The only values that are accepted. If you name none, all values of the type are accepted."
        ),
    )
    relationship = models.CharField(
        max_length=128,
        blank=True,
        help_text=_("Only needed for a list: the relationship from the record to the items of the list."),
    )

    class Meta:
        ordering = ("position", "id")
        constraints = [
            models.UniqueConstraint(
                "endpoint",
                Coalesce("parent", 0),
                "name",
                name="designer_input_name",
                violation_error_message=_("The endpoint has an input with this name already."),
            )
        ]

    def __str__(self) -> str:
        return f"{self.name} – {self.type}{', required' if self.required else ''}"


class Binding(models.Model):
    """An entity property: an attribute of the record, and where its value comes from.

    Those with a `parent`, an input of type List, are properties of each record that it creates.
    """

    endpoint = models.ForeignKey(Endpoint, on_delete=models.CASCADE, related_name="bindings")
    parent = models.ForeignKey(
        Input, null=True, blank=True, on_delete=models.CASCADE, related_name="bindings", editable=False
    )
    position = models.PositiveIntegerField(default=0)
    attribute = models.CharField(max_length=128, help_text=_("The attribute that is written."))
    source = models.CharField(
        max_length=20, default="input", help_text=_("Where the value of the attribute comes from.")
    )
    value = models.JSONField(
        null=True,
        blank=True,
        encoder=ExactJSONEncoder,
        decoder=ExactJSONDecoder,
        help_text=_("The name of the input or user property, the constant, or the expression."),
    )

    class Meta:
        verbose_name = _("entity property")
        verbose_name_plural = _("entity properties")
        ordering = ("position", "id")
        constraints = [
            models.UniqueConstraint(
                "endpoint",
                Coalesce("parent", 0),
                "attribute",
                name="designer_binding_attribute",
                violation_error_message=_("The endpoint writes this attribute already."),
            )
        ]

    def __str__(self) -> str:
        return self.attribute
