"""Two people on one page: the second save is refused, and nothing typed is lost."""

from __future__ import annotations

from django.db.models import Model
from django.http import HttpRequest
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.timezone import localtime
from django.utils.translation import gettext as _

from designer.history.items import ItemKey
from designer.history.places import item_key, state_of_row
from designer.loading import latest
from designer.models import ItemChange

# The field that says which state of the row the form was filled in over.
SEEN = "_seen"


def state_shown(row: Model | None) -> str:
    """What the form has to send back as `SEEN`."""
    return "" if row is None else state_of_row(row, latest())


def overtaken(request: HttpRequest, row: Model | None) -> SafeString | None:
    """Why this save would undo somebody else's; None where it would not."""
    seen = request.POST.get(SEEN)
    if row is None or not seen:
        return None
    configuration = latest()
    if seen == state_of_row(row, configuration):
        return None
    return _by_whom(item_key(row, configuration))


def _by_whom(key: ItemKey | None) -> SafeString:
    change = None
    if key is not None:
        changes = ItemChange.objects.filter(collection=key[0], key=key[1]).select_related("version")
        change = changes.order_by("-id").first()
    if change is None:
        return format_html("{}", _("Changed since you opened this page. Save again to write over it."))
    version = change.version
    return format_html(
        '{} <a href="{}" target="_blank" rel="noopener">{}</a>. {}',
        _("Changed by %(account)s at %(time)s since you opened this page:")
        % {
            "account": version.account or version.get_origin_display(),
            "time": date_format(localtime(version.made_at), "H:i"),
        },
        reverse("studio:version", args=[version.pk]),
        _("compare"),
        _("What you typed is kept below; saving again writes over the change."),
    )
