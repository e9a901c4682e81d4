"""The queries and filters of a page in words, by the names of their fields."""

from __future__ import annotations

from collections.abc import Iterable

from django.forms import BaseForm

from crmclient.errors import InvalidQuery
from crmclient.query.fetchxml import parse, parse_filter
from designer.readiness import Metadata
from designer.readiness.metadata import MetadataUnavailable
from designer.studio.endpoint_form.fetchxml_fields import FetchXmlField
from designer.studio.metadata.known import known_metadata
from designer.words import filter_in_words, query_in_words


def words_of(forms: Iterable[BaseForm]) -> dict[str, str]:
    """What cannot be read has no words: its field says why."""
    metadata = known_metadata()
    found = {}
    for form in forms:
        for name, field in form.fields.items():
            if not isinstance(field, FetchXmlField):
                continue
            if text := str(form[name].value() or "").strip():
                found[form.add_prefix(name)] = _words(text, field, metadata)
    return found


def _words(text: str, field: FetchXmlField, metadata: Metadata) -> str:
    try:
        if field.of == "filter":
            return filter_in_words(parse_filter(text), field.entity, metadata.attributes)
        return query_in_words(parse(text), metadata.entities(), metadata.attributes)
    except (InvalidQuery, MetadataUnavailable):
        return ""
