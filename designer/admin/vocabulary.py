"""What the rows of an endpoint's page choose from."""

from __future__ import annotations

from pydantic import ValidationError

from designer.models import Endpoint
from designer.platform import get_platform
from designer.readiness import Metadata
from designer.readiness.metadata import MetadataUnavailable
from designer.readiness.vocabulary import Vocabulary, vocabulary

_NOTHING = Vocabulary("", {}, {})


def vocabulary_of(row: Endpoint | None) -> Vocabulary:
    """An empty one while the platform cannot say, or the row does not say what of."""
    if row is None or row.operation is None:
        return _NOTHING
    try:
        settings = row.operation.settings.model_validate(row.settings)
        found = vocabulary(settings, row.entity.entity if row.entity else "", Metadata(get_platform()))
    except (ValidationError, MetadataUnavailable):
        return _NOTHING
    return found or _NOTHING
