"""Drift: the platform's metadata has changed under an endpoint since that was last saved."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from django.utils.translation import gettext_noop

from crmclient.metadata import Attribute
from designer.configuration import Endpoint
from designer.readiness.findings import DRIFT, Finding, Severity
from designer.readiness.metadata import Metadata, MetadataUnavailable
from designer.sentences import Sentence as _

# JSON: what the platform said about the attributes that an endpoint names, by attribute.
Facts: TypeAlias = dict[str, dict[str, Any]]

_SENTENCES = {
    "type": gettext_noop("“%(name)s” was %(old)s when this was saved, and is %(new)s now."),
    "max_length": gettext_noop(
        "“%(name)s” held %(old)s characters when this was saved, and holds %(new)s now."
    ),
    "required": gettext_noop("The platform requires “%(name)s” now, which it did not when this was saved."),
}


def facts_of(endpoint: Endpoint, metadata: Metadata) -> Facts | None:
    """Return what the platform says now of the attributes that `endpoint` names; None when it cannot be
    asked.
    """
    if endpoint.problem is not None:
        return None
    definition = endpoint.definition
    try:
        vocabulary = definition.settings.vocabulary(
            endpoint.entity.entity if endpoint.entity else "", metadata
        )
    except MetadataUnavailable:
        return None
    if vocabulary is None:
        return {}
    written = {
        binding.attribute: vocabulary.written.get(binding.attribute) for binding in definition.bindings
    }
    read = {column.attribute: vocabulary.read.get(column.attribute) for column in definition.columns}
    return {
        name: _facts_of_attribute(attribute)
        for name, attribute in {**read, **written}.items()
        if attribute is not None
    }


def drift_findings(key: str, old_facts: Facts | None, new_facts: Facts | None) -> Iterator[Finding]:
    """Yield a finding for every change of metadata that may harm an endpoint. `key` is the endpoint's.

    `old_facts` are those when it was saved, `new_facts` the present ones; None where they are not known.
    """
    if old_facts is None or new_facts is None:
        return
    for name, old in old_facts.items():
        new = new_facts.get(name)
        if new is None:
            yield _drift_finding(key, _("The platform no longer has “%(name)s”.", name=name))
            continue
        for fact, sentence in _SENTENCES.items():
            if _is_worse(fact, old.get(fact), new.get(fact)):
                yield _drift_finding(key, _(sentence, name=name, old=old.get(fact), new=new.get(fact)))


def _facts_of_attribute(attribute: Attribute) -> dict[str, Any]:
    """Return the facts of an attribute whose change may harm an endpoint. The names are those in
    `_SENTENCES`.
    """
    return {
        "type": attribute.type.value,
        "max_length": attribute.max_length,
        "required": attribute.is_required,
    }


def _is_worse(fact: str, old: Any, new: Any) -> bool:
    """Whether the change of a fact from `old` to `new` may harm an endpoint. `fact`: a name in `_SENTENCES`.

    A `max_length` of None is no limit: a shorter limit is worse, a longer one is not. A type is worse when it
    differs.
    """
    if fact == "max_length":
        return new is not None and (old is None or new < old)
    if fact == "required":
        return bool(new and not old)
    return bool(old != new)


def _drift_finding(key: str, message: str) -> Finding:
    """Return the warning about changed metadata for the endpoint with `key`."""
    return Finding(DRIFT, Severity.WARNING, message, key)
