"""Knowledge articles: some for everybody, one that only agents read, one that is not finished."""

from __future__ import annotations

import datetime as dt
from typing import Final

from crmbox.demo.people import FIRST_LINE
from crmbox.demo.sample_records.script import Script
from crmclient.values import Reference, Value

_DRAFT: Final = 2
_PUBLISHED: Final = 7

# Number, days since it was made, status, internal, title, summary, content.
_ARTICLES: Final = (
    (
        1,
        420,
        _PUBLISHED,
        False,
        "How to report a problem",
        "What to tell us, so that we can help at once.",
        "<p>The quickest way is a case in this portal. Tell us:</p>"
        "<ul><li>what you did, and what happened instead of what you expected,</li>"
        "<li>since when, and how often,</li>"
        "<li>the number on the type plate, such as <strong>MX-4471</strong>.</li></ul>"
        "<p>A picture or the exact error message says more than a long description: "
        "attach it to the case.</p>",
    ),
    (
        2,
        310,
        _PUBLISHED,
        False,
        "When we answer",
        "How soon you hear from us, by priority.",
        "<p>Our first line answers on working days from 8:00 to 18:00.</p>"
        "<ul><li><strong>High</strong>: within two hours</li>"
        "<li><strong>Normal</strong>: within one working day</li>"
        "<li><strong>Low</strong>: within three working days</li></ul>"
        "<p>When production stands still, choose <em>High</em>.</p>",
    ),
    (
        3,
        260,
        _PUBLISHED,
        False,
        "Reset your password",
        "Get back in without calling us.",
        "<ol><li>Open the sign-in page and choose <em>Forgot password</em>.</li>"
        "<li>Enter the e-mail address that you registered with.</li>"
        "<li>Follow the link in the e-mail within 30 minutes.</li></ol>"
        "<p>No e-mail? Look into your spam folder, then report a problem.</p>",
    ),
    (
        4,
        190,
        _PUBLISHED,
        False,
        "Return a broken part",
        "Where to send it, and what to put in the parcel.",
        "<p>Ask for a return in a case first: you get a return number and a label.</p>"
        "<ol><li>Put the part into its box, or into any box with padding.</li>"
        "<li>Write the return number on the outside.</li>"
        "<li>Hand it to the carrier within 14 days.</li></ol>"
        "<p>A replacement leaves our warehouse on the day when the part arrives.</p>",
    ),
    (
        5,
        75,
        _PUBLISHED,
        False,
        "Read your invoice",
        "What each line means, and whom to ask.",
        "<p>An invoice has three parts: what was delivered, what was serviced, "
        "and what was agreed by contract.</p>"
        "<p>If an amount is not what you expected, report a problem with the invoice number in the title. "
        "You need not pay the disputed part before we have answered.</p>",
    ),
    (
        6,
        20,
        _PUBLISHED,
        False,
        "Maintenance on the first Sunday of the month",
        "When the services are not available.",
        "<p>On the first Sunday of each month, between 2:00 and 4:00, we bring our systems up to date. "
        "During this time the portal may be slow or not available.</p>"
        "<p>Machines go on working: they send what they have measured as soon as we are back.</p>",
    ),
    (
        7,
        150,
        _PUBLISHED,
        True,
        "How we calm an angry customer",
        "For agents only.",
        "<p>Listen, repeat what you have heard, say what happens next and when.</p>",
    ),
    (
        8,
        5,
        _DRAFT,
        False,
        "The new spring catalogue",
        "Not released yet.",
        "<p>Prices to come.</p>",
    ),
)


def write(script: Script) -> None:
    """Write the knowledge articles. Published ones go out an hour after they were created."""
    for number, days, status, internal, title, summary, content in _ARTICLES:
        # At nine in the morning.
        created = script.today - dt.timedelta(days=days) + dt.timedelta(hours=9)
        values: dict[str, Value] = {
            "articlepublicnumber": f"KA-{number:05d}",
            "title": title,
            "description": summary,
            "content": content,
            "isinternal": internal,
            "publishon": created + dt.timedelta(hours=1) if status == _PUBLISHED else None,
            "ownerid": Reference("team", FIRST_LINE),
            "statuscode": status,
        }
        script.create("knowledgearticle", str(number), values, created)
