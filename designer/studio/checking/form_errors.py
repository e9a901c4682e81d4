"""The errors of the forms of an endpoint's page, by the fields at which the page shows them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any

from django.forms import BaseFormSet, ModelForm

from designer.models import Endpoint
from designer.studio.endpoint_form.list_rows import with_nested_formsets
from designer.studio.endpoint_form.row_formsets import REPEATED


def errors_by_field(
    form: ModelForm[Endpoint], formsets: Iterable[BaseFormSet[Any]], *, with_missing: bool = True
) -> Mapping[str, Sequence[str]]:
    """Return the errors of the page's fields, by the name of the field in HTML (`inputs-0-name`).

    Errors of a form as a whole are left out and, without `with_missing`, those of missing values. Forms that
    were not sent have no errors.
    """
    errors = {}
    rows = (row for formset in with_nested_formsets(formsets) for row in formset.forms)
    # The admin gives rows that may only be looked at a plain, empty dictionary of errors.
    for checked_form in filter(attrgetter("errors"), [form, *rows]):
        for name, problems in checked_form.errors.as_data().items():
            sentences = [
                text
                for problem in problems
                if with_missing or problem.code != "required"
                for text in problem.messages
            ]
            if sentences and name in checked_form.fields:
                errors[checked_form.add_prefix(name)] = sentences
    return errors


def has_repeated_rows(formset: BaseFormSet[Any]) -> bool:
    """Whether the formset refuses a row, because an earlier one has its name."""
    return any(
        problem.code == REPEATED
        for form in filter(attrgetter("errors"), formset.forms)
        for problems in form.errors.as_data().values()
        for problem in problems
    )
