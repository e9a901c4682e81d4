"""A form that is shown again with what its save was refused for."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.db.models import BaseConstraint, Expression, F, Model, UniqueConstraint
from django.utils.translation import gettext as _

from designer.readiness import Finding


class RefusalForm(forms.ModelForm):  # type: ignore[type-arg]
    """A form that shows, at its fields, the findings for which the same save was refused before."""

    refused: Collection[Finding] = ()
    # Whether the page asks questions, such as which of two changes counts.
    has_questions: bool = False
    # The names of fields in the form, by the names that findings have for them, with `__` for a dot.
    form_names: ClassVar[dict[str, str]] = {}

    @property
    def own_refused(self) -> Collection[Finding]:
        """Return the findings that are shown in this form and not in the rows of the page."""
        return self.refused

    def _get_validation_exclusions(self) -> set[str]:
        """Check unique constraints of which the form lacks a field, too: Django leaves them out.

        A field that a new row needs and has no value for yet cannot be checked.
        """
        excluded: set[str] = super()._get_validation_exclusions()  # type: ignore[misc]  # not in the stubs
        compared = {
            name for constraint in _constraints(self.instance) for name in _compared_fields(constraint)
        }
        for name in compared - set(self.fields):
            is_needed = not self.instance._meta.get_field(name).null
            if self.instance.serializable_value(name) is not None or not is_needed:
                excluded.discard(name)
        return excluded

    def shows(self, field: str) -> bool:
        """Whether the page shows a field of this name, so that what is said there is seen."""
        return field in self.fields

    def _update_errors(self, errors: ValidationError) -> None:
        """Show the errors of the row. What a constraint says stands at the last field on the page that it
        compares; Django says it at the top of the form.
        """
        places = {
            str(constraint.get_violation_error_message()): name
            for constraint in _constraints(self.instance)
            for name in _compared_fields(constraint)
            if self.shows(name)
        }
        by_field: dict[str, list[ValidationError]] = {}
        for field, field_errors in ValidationError(errors).update_error_dict({}).items():
            for error in field_errors:
                place = places.get(str(error.message), field) if field == NON_FIELD_ERRORS else field
                by_field.setdefault(place, []).append(error)
        super()._update_errors(ValidationError(by_field))  # type: ignore[misc]  # not in the stubs

    def clean(self) -> dict[str, Any]:
        """Add the refusals as errors, each to its field; to the whole form where that lacks the field."""
        cleaned = super().clean() or self.cleaned_data
        if self.has_questions:
            self.add_error(
                None, ValidationError(_("Not saved. Answer each question above, then save again."))
            )
        for finding in self.own_refused:
            name = finding.field.replace(".", "__")
            name = self.form_names.get(name, name)
            self.add_error(name if name in self.fields else None, finding.said)
        return cleaned


def _constraints(row: Model) -> list[BaseConstraint]:
    return [constraint for _model, constraints in row.get_constraints() for constraint in constraints]


def _compared_fields(constraint: BaseConstraint) -> list[str]:
    """Return the fields that a unique constraint compares, by themselves or in an expression, in its order.

    Other constraints compare none.
    """
    if not isinstance(constraint, UniqueConstraint):
        return []
    names = list(constraint.fields)
    for expression in constraint.expressions:
        parts: Iterable[Any] = expression.flatten() if isinstance(expression, Expression) else [expression]
        # `name` is not in the stubs.
        names += [part.name for part in parts if isinstance(part, F)]  # type: ignore[attr-defined]
    return names
