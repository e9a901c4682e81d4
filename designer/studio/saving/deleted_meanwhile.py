"""A save of what somebody else has deleted: it says so, and shows what was typed instead of losing it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from django.contrib import admin
from django.contrib.admin.models import DELETION, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import formats, timezone
from django.utils.translation import gettext as _

_ROW = re.compile(r"(?P<rows>\w+)-(?P<at>\d+)-(?P<field>.+)")
# What pages send along that nobody has typed.
_UNTYPED = re.compile(
    r"_.*|csrfmiddlewaretoken|.*-(id|endpoint|position|TOTAL_FORMS|INITIAL_FORMS|MIN_NUM_FORMS|MAX_NUM_FORMS)"
)


def deleted_meanwhile(request: HttpRequest, model: type[Model], id: str) -> HttpResponse:
    """Return the page for a form whose row is gone: who deleted it and when, and all that was typed. Status
    410.
    """
    context = {
        **admin.site.each_context(request),
        "title": _("This was deleted while you were editing it"),
        "words": _what_happened(model, id),
        "typed": list(_typed(request)),
    }
    return render(request, "designer/pages/deleted_meanwhile.html", context, status=410)


def _what_happened(model: type[Model], id: str) -> str:
    """Return a sentence about who deleted the row with this id and when, as far as the admin's log says."""
    kind = ContentType.objects.get_for_model(model)
    entries = LogEntry.objects.filter(content_type=kind, object_id=id, action_flag=DELETION)
    # The newest entry: Django's log has this order.
    entry = entries.select_related("user").first()
    if entry is None:
        return _("Nothing was saved: it is not part of the configuration any more.")
    return _("Nothing was saved: %(user)s deleted “%(what)s” at %(when)s.") % {
        "user": entry.user.get_username(),
        "what": entry.object_repr,
        "when": formats.date_format(timezone.localtime(entry.action_time), "DATETIME_FORMAT"),
    }


def _typed(request: HttpRequest) -> Iterator[tuple[str, str]]:
    """Yield the title and the text of each field that was filled in. Rows are numbered from 1."""
    for name, values in request.POST.lists():
        # Items of a list have names inside of names, and all of them end alike.
        if _UNTYPED.fullmatch(name) or not any(values):
            continue
        row = _ROW.fullmatch(name)
        title = f"{row['rows']} {int(row['at']) + 1}: {row['field']}" if row else name
        yield title.replace("__", ": ").replace("_", " "), ", ".join(map(str, values))
