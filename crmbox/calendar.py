"""The organisation's calendar: time zone and fiscal years, as the settings have them."""

from __future__ import annotations

from django.conf import settings

from crmclient.query.calendar import Calendar, calendar_of


def calendar() -> Calendar:
    return calendar_of(settings.PORTICO)
