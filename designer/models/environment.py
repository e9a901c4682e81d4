"""Values that differ from one environment to the next, as the last imports supplied them."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _


class EnvironmentValue(models.Model):
    """One value by the name that documents give it: `text`, which is a value of the input type `type`.

    Where documents name a record by a key, `name` is what writes the key, and `text` the record's id.
    """

    name = models.CharField(_("name"), max_length=400, unique=True)
    type = models.CharField(_("type"), max_length=40)
    text = models.TextField(_("value"))

    class Meta:
        verbose_name = _("environment value")
        verbose_name_plural = _("environment values")
        ordering = ("name",)
        default_permissions = ("view",)

    def __str__(self) -> str:
        return self.name


class EnvironmentValueUse(models.Model):
    """A place in an item of the document that has the value.

    `path` names the members that lead to the place.
    """

    value = models.ForeignKey(EnvironmentValue, on_delete=models.CASCADE, related_name="uses")
    collection = models.CharField(max_length=40)
    key = models.CharField(max_length=400)
    path = models.CharField(max_length=400)

    class Meta:
        ordering = ("collection", "key", "path")
        default_permissions = ()
        constraints = (
            models.UniqueConstraint(
                fields=("value", "collection", "key", "path"), name="designer_environment_value_use"
            ),
        )

    def __str__(self) -> str:
        return f"{self.collection} {self.key}: {self.path}"
