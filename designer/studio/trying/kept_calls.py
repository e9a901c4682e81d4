"""Keeping a tried call as an example call of its endpoint."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from designer.audit.audit_entries import note
from designer.configuration import Configuration, Endpoint
from designer.definitions.example_calls import LARGEST_SAMPLE
from designer.example_calls.call_runs import rehearsed
from designer.example_calls.kept_examples import FileTooLarge, example_of, expecting, put
from designer.history.recording import recording
from designer.history.refused_changes import ChangeRefused
from designer.loading import latest
from designer.models import AuditEntry
from designer.models import Endpoint as EndpointRow
from designer.ports import Attempt, Preview
from designer.studio.saving.authors import author_of
from designer.studio.saving.refused_as_proposal import proposed, tell_refused
from designer.studio.saving.undo_offers import say_done
from designer.studio.trying.example_form import name_field

# The button, and what is typed beside it.
KEEP, KEEP_AS = "_keep", "_keep_as"
# What the address of an example call's page names it by.
NAME = "name"


def keep(
    request: HttpRequest,
    row: EndpointRow,
    configuration: Configuration,
    preview: Preview,
    attempt: Attempt,
) -> str | None:
    """Keep `attempt` as an example call under the typed name. Return the query string of its page.

    Return None, and leave a message, when the call cannot be kept. A dry run of the call finds the answer
    that the example expects, and writes nothing.
    """
    endpoint = configuration.endpoints[row.pk]
    try:
        name = _name(request, endpoint)
        new_example = example_of(name, attempt, preview.status)
        # As it will be made from now on: not with a file of somebody's own.
        example = expecting(new_example, rehearsed(new_example, endpoint, configuration))
    except ValidationError as error:
        messages.error(request, _("The call was not kept. %(reason)s") % {"reason": " ".join(error.messages)})
        return None
    except FileTooLarge:
        text = _("The call was not kept: the file is larger than %(most)s MB. Choose a smaller file.")
        messages.error(request, text % {"most": LARGEST_SAMPLE // 2**20})
        return None
    with row_change(request, row, _("The call was kept. Check which answer it expects.")) as fresh:
        put(fresh, example, name)
    return urlencode({NAME: name})


@contextmanager
def row_change(request: HttpRequest, row: EndpointRow, message: str) -> Iterator[EndpointRow]:
    """Yield the stored row for a change, and record a version of the configuration afterwards.

    The user sees `message`, or why the change was refused.
    """
    try:
        with recording(author_of(request)) as recorded:
            yield EndpointRow.objects.get(pk=row.pk)
    except ChangeRefused as refused:
        if not proposed(request, refused):
            tell_refused(request, refused)
        return
    say_done(request, message, recorded.version)
    note(request, AuditEntry.Action.CHANGE, latest().endpoints[row.pk].definition.key, "example calls")


def _name(request: HttpRequest, endpoint: Endpoint) -> str:
    """Raises ValidationError."""
    name: str = name_field().clean(request.POST.get(KEEP_AS, ""))
    if name in {call.name for call in endpoint.definition.example_calls}:
        raise ValidationError(
            _("Another example call is called “%(name)s”. Choose another name.") % {"name": name}
        )
    return name
