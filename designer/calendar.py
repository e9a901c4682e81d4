"""The calendar of whole days, relative dates and fiscal years, as the settings have it."""

from __future__ import annotations

import datetime as dt

from django.conf import settings

from crmclient.query.calendar import Calendar, Moment, calendar_of


def present() -> Moment:
    """Return the present moment, for use where no request fixes one."""
    return Moment(dt.datetime.now(dt.UTC), calendar())


def calendar() -> Calendar:
    """Return the calendar that the settings describe."""
    return calendar_of(settings.PORTICO)
