"""Keeping a tried call as an example call of its endpoint."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from designer.audit.writing import note
from designer.configuration import Configuration, Endpoint
from designer.example_calls.keeping import FileSent, example_of, put
from designer.history.recording import recording
from designer.history.refused import ChangeRefused
from designer.loading import latest
from designer.models import AuditEntry
from designer.models import Endpoint as EndpointRow
from designer.ports import Attempt, Preview, get_runtime
from designer.studio.saving.authors import author_of
from designer.studio.saving.proposing import proposed, tell_refused
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
    """Keep `attempt` under the name that was typed, and return the query of the address of its page.

    None, with a message, where it cannot be kept. The call is made for what it is answered, and changes
    nothing.
    """
    endpoint = configuration.endpoints[row.pk]
    try:
        name = _name(request, endpoint)
        rehearsal = get_runtime().rehearse(endpoint, configuration, attempt)
        example = example_of(name, attempt, rehearsal, preview.status)
    except ValidationError as error:
        messages.error(request, _("The call was not kept. %(reason)s") % {"reason": " ".join(error.messages)})
        return None
    except FileSent:
        messages.error(request, _("The call was not kept: an example call cannot send a file."))
        return None
    with changing(request, row, _("The call was kept. Check which answer it expects.")) as fresh:
        put(fresh, example, name)
    return urlencode({NAME: name})


@contextmanager
def changing(request: HttpRequest, row: EndpointRow, done: str) -> Iterator[EndpointRow]:
    """The row as it is now, whose change becomes a version; `done` is said of it, or why it was refused."""
    try:
        with recording(author_of(request)) as recorded:
            yield EndpointRow.objects.get(pk=row.pk)
    except ChangeRefused as refused:
        if not proposed(request, refused):
            tell_refused(request, refused)
        return
    say_done(request, done, recorded.version)
    note(request, AuditEntry.Action.CHANGE, latest().endpoints[row.pk].definition.key, "example calls")


def _name(request: HttpRequest, endpoint: Endpoint) -> str:
    """Raises ValidationError."""
    name: str = name_field().clean(request.POST.get(KEEP_AS, ""))
    if name in {call.name for call in endpoint.definition.example_calls}:
        raise ValidationError(
            _("Another example call is called “%(name)s”. Choose another name.") % {"name": name}
        )
    return name
