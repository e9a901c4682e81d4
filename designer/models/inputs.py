"""What an endpoint's callers may send, and where it goes."""

from __future__ import annotations

from django.db import models

from designer.models import names
from designer.models.endpoints import Endpoint
from designer.models.fields import ExactDecimalField, ExactJSONDecoder, ExactJSONEncoder


class Input(models.Model):
    """One named value of the request's body. Limits that are empty are the attribute's own."""

    endpoint = models.ForeignKey(Endpoint, on_delete=models.CASCADE, related_name="inputs")
    position = models.PositiveIntegerField(default=0)
    name = models.CharField(
        max_length=63, validators=[names.input_name], help_text="The key that callers send."
    )
    type = models.CharField(max_length=40, default="String", help_text="What callers may send in it.")
    required = models.BooleanField(default=False, help_text="A call without it is refused.")
    nullable = models.BooleanField(
        default=True, help_text="Callers may send null, which leaves or makes the attribute empty."
    )
    default = models.JSONField(
        null=True,
        blank=True,
        encoder=ExactJSONEncoder,
        decoder=ExactJSONDecoder,
        help_text="Used when a call leaves the input out.",
    )
    description = models.TextField(blank=True, help_text="What to send, for readers of the API docs.")
    minimum = ExactDecimalField(null=True, blank=True, help_text="The smallest number accepted.")
    maximum = ExactDecimalField(null=True, blank=True, help_text="The largest number accepted.")
    min_length = models.PositiveIntegerField(
        "minimum length", null=True, blank=True, help_text="Fewest characters."
    )
    max_length = models.PositiveIntegerField(
        "maximum length", null=True, blank=True, help_text="Most characters."
    )
    pattern = models.CharField(
        max_length=500, blank=True, help_text="A regular expression (RE2) that the whole text must match."
    )
    allowed = models.JSONField(
        "allowed values",
        default=list,
        blank=True,
        encoder=ExactJSONEncoder,
        decoder=ExactJSONDecoder,
        help_text="The only values accepted. Empty: all that the type takes.",
    )

    class Meta:
        ordering = ("position", "id")
        constraints = [
            models.UniqueConstraint(
                fields=("endpoint", "name"),
                name="designer_input_name",
                violation_error_message="The endpoint has an input with this name already.",
            )
        ]

    def __str__(self) -> str:
        return f"{self.name} – {self.type}{', required' if self.required else ''}"


class Binding(models.Model):
    """An entity property: an attribute of the record, and where its value comes from."""

    endpoint = models.ForeignKey(Endpoint, on_delete=models.CASCADE, related_name="bindings")
    position = models.PositiveIntegerField(default=0)
    attribute = models.CharField(max_length=128, help_text="The attribute that is written.")
    source = models.CharField(max_length=20, default="input", help_text="Where its value comes from.")
    value = models.JSONField(
        null=True,
        blank=True,
        encoder=ExactJSONEncoder,
        decoder=ExactJSONDecoder,
        help_text="The input's or user property's name, the constant, or the expression.",
    )

    class Meta:
        verbose_name = "entity property"
        verbose_name_plural = "entity properties"
        ordering = ("position", "id")
        constraints = [
            models.UniqueConstraint(
                fields=("endpoint", "attribute"),
                name="designer_binding_attribute",
                violation_error_message="The endpoint writes this attribute already.",
            )
        ]

    def __str__(self) -> str:
        return self.attribute
