"""The queries and filters of a page in words, by the names of their fields."""

from __future__ import annotations

from collections.abc import Iterable

from django.forms import BaseForm

from crmclient.errors import InvalidQuery
from crmclient.query.fetchxml import parse, parse_filter
from designer.queries.query_wording import filter_in_words, query_in_words
from designer.readiness import Metadata
from designer.readiness.metadata import MetadataUnavailable
from designer.studio.endpoint_form.fetchxml_fields import FetchXmlField
from designer.studio.metadata.page_metadata import known_metadata


def words_of(forms: Iterable[BaseForm]) -> dict[str, str]:
    """Return the queries and filters of the page in words, by the names of their fields.

    The words are empty for a text with errors, which its field shows. An empty field is left out.
    """
    metadata = known_metadata()
    words = {}
    for form in forms:
        for name, field in form.fields.items():
            if not isinstance(field, FetchXmlField):
                continue
            if text := str(form[name].value() or "").strip():
                words[form.add_prefix(name)] = _words(text, field, metadata)
    return words


def _words(text: str, field: FetchXmlField, metadata: Metadata) -> str:
    """Return a query or filter in words; empty for one with errors, and while metadata is not known."""
    try:
        if field.construct == "filter":
            return filter_in_words(parse_filter(text), field.entity, metadata.attributes)
        return query_in_words(parse(text), metadata.entities(), metadata.attributes)
    except (InvalidQuery, MetadataUnavailable):
        return ""
