"""What the page of an endpoint shows after each change before it is saved: findings, words, a preview."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.forms import BaseFormSet, ModelForm
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from designer.models import Endpoint
from designer.studio.checking.examined_page import examine
from designer.studio.checking.page_wording import words_of
from designer.studio.checking.previews import preview_html, preview_of
from designer.studio.endpoint_form.list_rows import with_nested_formsets
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
    examined = examine(row, form, formsets)
    preview = preview_of(examined.configuration.endpoints.get(row.pk), base)
    places = {item.place for item in examined.located}
    return {
        "path": f"{', '.join(row.methods)} {row.path}",
        "state": badge(row.enabled, examined.findings),
        "verdict": examined.verdict(row),
        "findings": {place: findings_at(examined.located, place) for place in places},
        "errors": _errors(form, formsets),
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


def _errors(form: ModelForm[Endpoint], formsets: Iterable[BaseFormSet[Any]]) -> dict[str, SafeString]:
    """Return the errors of the page's forms as HTML, by the name of the field in HTML (`inputs-0-name`).

    Missing values are left out: nobody has filled in the whole page yet. So are errors of a form as a whole,
    because `live.js` shows errors beside fields only.
    """
    errors = {}
    rows = (row for formset in with_nested_formsets(formsets) for row in formset.forms)
    for checked_form in [form, *rows]:
        for name, problems in checked_form.errors.as_data().items():
            sentences = [
                text for problem in problems if problem.code != "required" for text in problem.messages
            ]
            if sentences and name in checked_form.fields:
                errors[checked_form.add_prefix(name)] = format_html_join(
                    "", "<li>✖ {}</li>", ((text,) for text in sentences)
                )
    return errors
