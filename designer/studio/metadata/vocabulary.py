"""What the rows of an endpoint's page choose from."""

from __future__ import annotations

from pydantic import ValidationError

from crmclient.metadata import Attribute, OptionSet
from crmclient.query.designed import DesignedQuery
from designer.kinds.vocabulary import Vocabulary
from designer.models import Endpoint
from designer.readiness import Metadata
from designer.readiness.metadata import MetadataUnavailable
from designer.studio.metadata.page_metadata import known_metadata

_NOTHING = Vocabulary("", {}, {})


def vocabulary_of(row: Endpoint | None) -> Vocabulary:
    """An empty one while the platform cannot say, or the row does not say what of."""
    if row is None or row.operation is None:
        return _NOTHING
    try:
        settings = row.operation.settings.model_validate(row.settings)
        vocabulary = settings.vocabulary(row.entity.entity if row.entity else "", known_metadata())
    except (ValidationError, MetadataUnavailable):
        return _NOTHING
    return vocabulary or _NOTHING


def query_of(row: Endpoint) -> DesignedQuery | None:
    """The query that an endpoint of such a kind asks, as far as it can be read."""
    if row.operation is None:
        return None
    try:
        return row.operation.settings.model_validate(row.settings).designed_query
    except ValidationError:
        return None


def option_set_of(attribute: Attribute, entity: str, metadata: Metadata) -> OptionSet | None:
    """The options of a choice attribute; None for any other, and while the platform cannot say."""
    if attribute.option_set is None or attribute.options is not None:
        return attribute.options
    try:
        return metadata.option_set(attribute.logical_name, entity)
    except MetadataUnavailable:
        return None
