"""The attributes that a call's values go to or are compared with: they say what a value may be, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from crmclient.metadata import Attribute
from designer.configuration import Endpoint
from designer.query_parameters import parameters_of
from designer.readiness import Metadata
from designer.readiness.metadata import MetadataUnavailable
from designer.studio.metadata.known import known_metadata
from designer.studio.metadata.vocabulary import option_set_of


def option_labels(endpoint: Endpoint) -> Mapping[str, Mapping[str, str]]:
    """The labels of options by their values, by the names of inputs; without those that are no choices."""
    metadata = known_metadata()
    found: dict[str, Mapping[str, str]] = {}
    try:
        for name, entity, attribute in _asked(endpoint, metadata):
            options = option_set_of(attribute, entity, metadata)
            if options is not None:
                labels = {str(option.value): option.label.text() for option in options.options}
                found.setdefault(name, labels)
    except MetadataUnavailable:
        return {}
    return found


def _asked(endpoint: Endpoint, metadata: Metadata) -> Iterator[tuple[str, str, Attribute]]:
    """Each input with an attribute, and the entity of that."""
    definition = endpoint.definition
    entity = endpoint.entity.entity if endpoint.entity else ""
    vocabulary = definition.settings.vocabulary(entity, metadata)
    for binding in definition.bindings:
        attribute = vocabulary.written.get(binding.attribute) if vocabulary else None
        if binding.source == "input" and attribute is not None:
            yield str(binding.value), entity, attribute
    for name, uses in parameters_of(definition).items():
        for use in uses:
            compared = metadata.attributes(use.entity).get(use.attribute) if use.entity else None
            if compared is not None:
                yield name, use.entity, compared
