"""Attributes that e-mails, appointments and phone calls have in common."""

from __future__ import annotations

from crmbox.demo.attributes import attribute, memo, moment, state, status, string
from crmbox.demo.labels import label
from crmclient.metadata import Attribute, AttributeType, Option, OptionSet

_REGARDING = ("account", "contact", "lead", "opportunity", "incident")


def activity_attributes(entity: str, statuses: tuple[Option, ...]) -> tuple[Attribute, ...]:
    """Return the attributes that activities such as e-mails and appointments share.

    The first of `statuses` in each state is the state's default.
    """
    # Reversed, so that the first status of a state is put last and stays.
    defaults = {option.state: option.value for option in reversed(statuses)}
    states = OptionSet(
        f"{entity}_statecode",
        label("Activity Status", "Aktivitätsstatus", "حالة النشاط"),
        (
            Option(0, label("Open", "Offen", "مفتوح"), default_status=defaults[0]),
            Option(1, label("Completed", "Abgeschlossen", "مكتمل"), default_status=defaults[1]),
            Option(2, label("Canceled", "Abgebrochen", "ملغى"), default_status=defaults[2]),
        ),
        entity=entity,
    )
    reasons = OptionSet(
        f"{entity}_statuscode",
        label("Status Reason", "Statusgrund", "سبب الحالة"),
        statuses,
        entity=entity,
        inactive_states=frozenset({1, 2}),
    )
    return (
        state(states),
        status(reasons),
        string("subject", 200, label("Subject", "Betreff", "الموضوع"), is_primary_name=True),
        memo("description", 100_000, label("Description", "Beschreibung", "الوصف")),
        attribute(
            "regardingobjectid",
            AttributeType.LOOKUP,
            label("Regarding", "Bezug", "متعلق بـ"),
            targets=_REGARDING,
        ),
        moment("scheduledstart", label("Start Date", "Startdatum", "تاريخ البدء")),
        moment("scheduledend", label("Due Date", "Fälligkeitsdatum", "تاريخ الاستحقاق")),
    )
