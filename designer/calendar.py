"""The calendar of whole days, relative dates and fiscal years, as the settings have it."""

from __future__ import annotations

import datetime as dt

from django.conf import settings

from crmclient.query.calendar import Calendar, Moment, configured


def present() -> Moment:
    """Return the present moment, for use where no request fixes one."""
    return Moment(dt.datetime.now(dt.UTC), calendar())


def calendar() -> Calendar:
    return configured(settings.PORTICO)
