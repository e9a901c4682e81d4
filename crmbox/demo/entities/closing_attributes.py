"""Attributes that the activities which close an opportunity or a case have in common."""

from __future__ import annotations

from crmbox.demo.attributes import memo, moment, state, status, string
from crmbox.demo.labels import label
from crmclient.metadata import Attribute, Option, OptionSet


def closing_attributes(entity: str) -> tuple[Attribute, ...]:
    """Return the attributes that closing activities share, such as the resolution of a case."""
    states = OptionSet(
        f"{entity}_statecode",
        label("Activity Status", "Aktivitätsstatus", "حالة النشاط"),
        (
            Option(0, label("Open", "Offen", "مفتوح"), default_status=1),
            Option(1, label("Completed", "Abgeschlossen", "مكتمل"), default_status=2),
            Option(2, label("Canceled", "Abgebrochen", "ملغى"), default_status=3),
        ),
        entity=entity,
    )
    statuses = OptionSet(
        f"{entity}_statuscode",
        label("Status Reason", "Statusgrund", "سبب الحالة"),
        (
            Option(1, label("Open", "Offen", "مفتوح"), state=0),
            Option(2, label("Completed", "Abgeschlossen", "مكتمل"), state=1),
            Option(3, label("Canceled", "Abgebrochen", "ملغى"), state=2),
        ),
        entity=entity,
        inactive_states=frozenset({1, 2}),
    )
    return (
        state(states),
        status(statuses),
        string("subject", 200, label("Subject", "Betreff", "الموضوع"), is_primary_name=True),
        memo("description", 2000, label("Description", "Beschreibung", "الوصف")),
        moment("actualend", label("Close Date", "Abschlussdatum", "تاريخ الإغلاق")),
    )
