"""The calendar of whole days, relative dates and fiscal years, as the settings have it."""

from __future__ import annotations

import datetime as dt

from django.conf import settings

from crmclient.query.calendar import Calendar, Moment, configured


def present() -> Moment:
    """This very moment, where there is no request that fixes one."""
    return Moment(dt.datetime.now(dt.UTC), calendar())


def calendar() -> Calendar:
    return configured(settings.PORTICO)
