"""Records that are found by an alternate key: which key it is, and what it leaves to be written."""

from __future__ import annotations

from crmclient.conventions import Ability
from crmclient.metadata import AlternateKey
from designer.kinds.keys import KeySettings, UpsertSettings
from designer.readiness.registry import Found, blocking_of
from designer.readiness.rules.column_rules import not_returned
from designer.readiness.subjects import EndpointSubject
from designer.sentences import Sentence as _
from designer.types import natural_type

_KEY = "settings.key"


@blocking_of(KeySettings, "key-unknown")
def key_exists(subject: EndpointSubject, settings: KeySettings) -> Found:
    """Find a key that is not chosen, or that the entity does not have."""
    entity = subject.metadata.entities().get(subject.entity)
    if entity is None or settings.key_among(entity.keys) is not None:
        return
    if not entity.keys:
        yield _("%(entity)s has no alternate key. Define one on the platform.", entity=subject.entity), _KEY
    elif settings.key:
        yield (
            _(
                "%(entity)s has no alternate key “%(key)s”. Choose another.",
                entity=subject.entity,
                key=settings.key,
            ),
            _KEY,
        )
    else:
        yield _("Choose the alternate key."), _KEY


@blocking_of(KeySettings, "key-attributes")
def key_can_be_read(subject: EndpointSubject, settings: KeySettings) -> Found:
    """Find attributes of the key that no path can hold, or that the platform does not return."""
    key = _chosen_key(subject, settings)
    attributes = subject.metadata.attributes(subject.entity)
    for name in key.attributes if key else ():
        if name not in attributes or natural_type(attributes[name]) is None:
            yield (
                _(
                    "The key “%(key)s” has the attribute “%(attribute)s”, which no path can hold. Choose "
                    "another key.",
                    key=settings.key,
                    attribute=name,
                ),
                _KEY,
            )
        elif not attributes[name].readable:
            yield not_returned(name), _KEY


@blocking_of(UpsertSettings, "platform-upserts")
def platform_upserts(subject: EndpointSubject, settings: UpsertSettings) -> Found:
    """Find an upsert where the platform cannot write a record by its key."""
    if Ability.UPSERTS not in subject.metadata.conventions.abilities:
        yield _("The platform cannot write a record by its key. Use a create and an update."), _KEY


@blocking_of(UpsertSettings, "key-bound")
def key_is_set_by_the_path(subject: EndpointSubject, settings: UpsertSettings) -> Found:
    """Find bindings to attributes of the key, whose values come from the path."""
    key = _chosen_key(subject, settings)
    for binding in subject.bindings:
        if key is not None and binding.attribute in key.attributes:
            yield (
                _(
                    "“%(attribute)s” is part of the key, which the path gives. Remove its binding.",
                    attribute=binding.attribute,
                ),
                f"bindings.{binding.attribute}.attribute",
            )


@blocking_of(UpsertSettings, "key-update-only")
def attributes_can_be_changed(subject: EndpointSubject, settings: UpsertSettings) -> Found:
    """Find bindings to attributes that only a create can set: an upsert may update."""
    for binding in subject.bindings:
        attribute = subject.attributes.get(binding.attribute)
        if attribute is not None and attribute.creatable and not attribute.updatable:
            yield (
                _(
                    "“%(attribute)s” can be set when a record is created, and never changed. An upsert may "
                    "change a record. Remove the binding.",
                    attribute=binding.attribute,
                ),
                f"bindings.{binding.attribute}.attribute",
            )


def _chosen_key(subject: EndpointSubject, settings: KeySettings) -> AlternateKey | None:
    """Return the chosen alternate key of the entity; None while there is none."""
    entity = subject.metadata.entities().get(subject.entity)
    return None if entity is None else settings.key_among(entity.keys)
