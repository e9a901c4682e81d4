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
    """Return what the bindings of an endpoint may set and its columns may answer.

    Empty while the platform cannot say, or the row does not say what it is about.
    """
    if row is None or row.operation is None:
        return _NOTHING
    try:
        settings = row.operation.settings.model_validate(row.settings)
        vocabulary = settings.vocabulary(row.entity.entity if row.entity else "", known_metadata())
    except (ValidationError, MetadataUnavailable):
        return _NOTHING
    return vocabulary or _NOTHING


def query_of(row: Endpoint) -> DesignedQuery | None:
    """Return the endpoint's own query; None for a kind without one, and while it cannot be read."""
    if row.operation is None:
        return None
    try:
        return row.operation.settings.model_validate(row.settings).designed_query
    except ValidationError:
        return None


def option_set_of(attribute: Attribute, entity: str, metadata: Metadata) -> OptionSet | None:
    """Return the options of an attribute of `entity`; None for none, and while the platform cannot say."""
    # Where the attribute holds its options, nobody needs to be asked.
    if attribute.option_set is None or attribute.options is not None:
        return attribute.options
    try:
        return metadata.option_set(attribute.logical_name, entity)
    except MetadataUnavailable:
        return None
