"""The attributes that the inputs of a call are written to or compared with, and the labels of their
options.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from crmclient.metadata import Attribute
from designer.configuration import Endpoint
from designer.endpoint_facts.query_parameters import parameters_of
from designer.readiness import Metadata
from designer.readiness.metadata import MetadataUnavailable
from designer.studio.metadata.page_metadata import known_metadata
from designer.studio.metadata.vocabulary import option_set_of


def option_labels(endpoint: Endpoint) -> Mapping[str, Mapping[str, str]]:
    """Return, for each input of a choice attribute, the labels of its options by value (as text).

    Empty when the platform cannot be asked.
    """
    metadata = known_metadata()
    labels_by_name: dict[str, Mapping[str, str]] = {}
    try:
        for name, entity, attribute in _inputs_with_attributes(endpoint, metadata):
            options = option_set_of(attribute, entity, metadata)
            if options is not None:
                labels = {str(option.value): option.label.text() for option in options.options}
                # The first attribute of an input counts.
                labels_by_name.setdefault(name, labels)
    except MetadataUnavailable:
        return {}
    return labels_by_name


def _inputs_with_attributes(endpoint: Endpoint, metadata: Metadata) -> Iterator[tuple[str, str, Attribute]]:
    """Yield each input that is written to or compared with an attribute: input name, entity, attribute.

    An input may come several times. Raises MetadataUnavailable.
    """
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
