"""What the page of an endpoint shows after each change before it is saved: findings, words, a preview."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.forms import BaseFormSet, ModelForm
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from designer.models import Endpoint
from designer.studio.checking.examined_page import examine
from designer.studio.checking.form_errors import errors_by_field
from designer.studio.checking.page_wording import words_of
from designer.studio.checking.previews import preview_html, preview_of
from designer.studio.endpoint_form.page_data import fetched_columns, shown_columns
from designer.studio.located_findings import findings_at
from designer.studio.navigation.badges import badge


def live_state(
    row: Endpoint, form: ModelForm[Endpoint], formsets: Sequence[BaseFormSet[Any]], base: str
) -> dict[str, Any]:
    """Return what `live.js` shows of the page, as JSON.

    `findings` and `errors` are HTML by place. `counts` are the numbers of blocking and of other findings by
    place. `words` are the queries and filters of fields in words. `columns` and `fetched` are what fields may
    name. `base` is the service's address, for the preview.
    """
    examined = examine(row, form, formsets, is_unfinished=True)
    # Nobody has filled in the whole page yet. Errors of a form as a whole have no field to stand at.
    errors = errors_by_field(form, formsets, with_missing=False)
    preview = preview_of(examined.configuration.endpoints.get(row.pk), base)
    places = {item.place for item in examined.located}
    return {
        "path": row.methods_and_path,
        "state": badge(row.enabled, examined.findings),
        "verdict": examined.verdict(row),
        "findings": {place: findings_at(examined.located, place) for place in places},
        "errors": {name: _as_items(sentences) for name, sentences in errors.items()},
        "words": words_of([form, *(row for formset in formsets for row in formset.forms)]),
        "columns": shown_columns(examined.configuration.endpoints.get(row.pk)),
        "fetched": fetched_columns(examined.configuration.endpoints.get(row.pk)),
        "preview": preview_html(preview),
        # When this changes, `live.js` fetches the form of a call anew: it is made of these facts.
        "asked": repr((preview.fields, preview.problem)) if preview else "",
        "counts": {
            place: [
                sum(item.finding.is_blocking for item in examined.located if item.place == place),
                sum(not item.finding.is_blocking for item in examined.located if item.place == place),
            ]
            for place in places
        },
    }


def _as_items(sentences: Iterable[str]) -> SafeString:
    """Return errors as the items of a list in HTML."""
    return format_html_join("", "<li>✖ {}</li>", ((text,) for text in sentences))
