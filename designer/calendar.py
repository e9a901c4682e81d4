"""The calendar of whole days, relative dates and fiscal years, as the settings have it."""

from __future__ import annotations

import datetime as dt
from functools import cache
from zoneinfo import ZoneInfo

from django.conf import settings

from crmclient.query.calendar import Calendar, Moment


@cache
def _calendar(zone: str, fiscal_start: str) -> Calendar:
    month, day = fiscal_start.split("-")
    return Calendar(ZoneInfo(zone), (int(month), int(day)))


def present() -> Moment:
    """This very moment, where there is no request that fixes one."""
    return Moment(dt.datetime.now(dt.UTC), calendar())


def calendar() -> Calendar:
    return _calendar(settings.PORTICO["CRM_TIME_ZONE"], settings.PORTICO["CRM_FISCAL_YEAR_START"])
