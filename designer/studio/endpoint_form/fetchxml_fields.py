"""Queries and filters as form fields: FetchXML in a text area, which `query/builder.js` turns into rows."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from crmclient.query.fetchxml import parse, parse_filter
from crmclient.query.fetchxml_checks import parse_known, parse_known_filter
from crmclient.query.problems import QueryProblems
from designer.calendar import calendar
from designer.readiness.metadata import MetadataUnavailable
from designer.sentences import said
from designer.studio.look import dress
from designer.studio.metadata.page_metadata import known_metadata

# What turns the text areas into rows, in the order in which one needs the other.
QUERY_SCRIPTS = (
    "designer/vendor/sortablejs-1.15.7/Sortable.min.js",
    *(
        f"designer/query/{name}.js"
        for name in ("document", "controls", "moving", "values", "conditions", "parts", "builder")
    ),
)


class FetchXmlField(forms.CharField):
    """A field for FetchXML. `construct` is `query` or `filter`; a filter is on `entity`.

    The value is the text as typed. Text that cannot be read is refused with the reasons.
    """

    def __init__(self, construct: str, entity: str = "", **kwargs: Any) -> None:
        attrs = {"rows": 8, "spellcheck": "false", "data-fetchxml": construct, "data-entity": entity}
        super().__init__(
            **{"required": False, "strip": False, "widget": forms.Textarea(attrs=attrs), **kwargs}
        )
        self.construct = construct
        self.entity = entity
        dress(self)

    def set_entity(self, entity: str) -> None:
        """Set the entity whose rows a filter narrows, where it is known only after the field was made."""
        self.entity = entity
        self.widget.attrs["data-entity"] = entity

    def clean(self, value: Any) -> str:
        """Return the text as typed. Raises ValidationError with what is wrong in it; blank text is fine."""
        text: str = super().clean(value)
        if text.strip():
            try:
                self._check(text)
            except QueryProblems as error:
                raise ValidationError([said(problem.sentence) for problem in error.problems]) from error
        return text

    def _check(self, text: str) -> None:
        """Raise QueryProblems if the text cannot be read, which name what the metadata lack, too."""
        try:
            attributes = known_metadata().known_attributes
        except MetadataUnavailable:
            parse(text) if self.construct == "query" else parse_filter(text)
            return
        if self.construct == "query":
            parse_known(text, attributes, calendar())
        elif self.entity:
            parse_known_filter(text, self.entity, attributes, calendar())
        else:
            parse_filter(text)
