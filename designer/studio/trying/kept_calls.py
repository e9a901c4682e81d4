"""Keeping a tried call as an example call of its endpoint."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from designer.audit.audit_entries import note
from designer.configuration import Configuration, Endpoint
from designer.definitions.example_calls import LARGEST_SAMPLE
from designer.example_calls.call_runs import rehearsal_of
from designer.example_calls.kept_examples import (
    FileTooLarge,
    OtherExamples,
    add,
    example_of,
    expecting,
)
from designer.history.recording import recording
from designer.history.refused_changes import ChangeRefused
from designer.loading import latest
from designer.models import AuditEntry
from designer.models import Endpoint as EndpointRow
from designer.ports import Attempt, Preview
from designer.sentences import said
from designer.studio.saving.authors import author_of
from designer.studio.saving.refusal_messages import tell_refused
from designer.studio.saving.refused_as_proposal import open_as_proposal
from designer.studio.saving.undo_offers import say_done
from designer.studio.trying.example_form import name_field

# The name of the button, and of the field for the name beside it.
KEEP, KEEP_AS = "_keep", "_keep_as"
# The parameter in the address of an example call's page that names the call.
NAME = "name"


def keep(
    request: HttpRequest,
    row: EndpointRow,
    configuration: Configuration,
    preview: Preview,
    attempt: Attempt,
    example_address: str,
) -> HttpResponseRedirect | None:
    """Keep `attempt` as an example call under the typed name.

    Return what `change_row` returns; None, too, for a call that cannot be kept, with a message that says why.
    `example_address` is the address of the page of an example call. A dry run of the call finds the answer
    that the example expects, and writes nothing.
    """
    endpoint = configuration.endpoints[row.pk]
    try:
        name = _typed_name(request, endpoint)
        new_example = example_of(name, attempt, preview.status)
        # As it will be made from now on: not with a file of somebody's own.
        example = expecting(new_example, rehearsal_of(new_example, endpoint, configuration))
    except ValidationError as error:
        messages.error(request, _("The call was not kept. %(reason)s") % {"reason": " ".join(error.messages)})
        return None
    except FileTooLarge:
        text = _("The call was not kept: the file is larger than %(most)s MB. Choose a smaller file.")
        messages.error(request, text % {"most": LARGEST_SAMPLE // 2**20})
        return None
    message = _("The call was kept. Check which answer it expects.")
    page = f"{example_address}?{urlencode({NAME: name})}"
    try:
        return change_row(request, row, lambda fresh: add(fresh, example), message, page)
    except OtherExamples as conflict:
        messages.error(request, _("The call was not kept. %(reason)s") % {"reason": said(str(conflict))})
        return None


def change_row(
    request: HttpRequest,
    row: EndpointRow,
    change: Callable[[EndpointRow], None],
    message: str,
    next_address: str,
) -> HttpResponseRedirect | None:
    """Call `change` with the stored row, which it changes, and record a version of the configuration.

    Return a redirect to `next_address`, where the user sees `message`, or to the proposal that the change was
    opened as. Return None, and leave messages that say why, when the change was refused. Nothing is saved
    when `change` raises an exception. Raises Http404 when somebody else has deleted the row.
    """
    try:
        with recording(author_of(request)) as recorded:
            # Read anew, while others who save wait: `row` has what there was before.
            change(get_object_or_404(EndpointRow, pk=row.pk))
    except ChangeRefused as refused:
        if redirect := open_as_proposal(request, refused):
            return redirect
        tell_refused(request, refused)
        return None
    say_done(request, message, recorded.version)
    note(request, AuditEntry.Action.CHANGE, latest().endpoints[row.pk].definition.key, "example calls")
    return HttpResponseRedirect(next_address)


def _typed_name(request: HttpRequest, endpoint: Endpoint) -> str:
    """Return the name that was typed for the new example call.

    Raises ValidationError for one that is empty, too long, or in use at the endpoint.
    """
    name: str = name_field().clean(request.POST.get(KEEP_AS, ""))
    if name in {call.name for call in endpoint.definition.example_calls}:
        raise ValidationError(
            _("Another example call is called “%(name)s”. Choose another name.") % {"name": name}
        )
    return name
