"""Checks whether the settings of fiscal years agree with those of the organisation."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from typing import Final

from crmclient.dataverse.checkup import Outcome, Step
from crmclient.errors import PlatformError
from crmclient.platform import Platform
from crmclient.query.ast import ALL, Column, Query
from crmclient.query.fiscal import FiscalCalendar, FiscalPeriods
from crmclient.sentences import Sentence
from crmclient.values import Value

_NAME: Final = "fiscal years"
_ORGANIZATION: Final = "organization"
_START, _PERIODS = "fiscalcalendarstart", "fiscalperiodtype"
_PERIODS_BY_NUMBER: Final = {
    2000: FiscalPeriods.ANNUALLY,
    2001: FiscalPeriods.SEMIANNUALLY,
    2002: FiscalPeriods.QUARTERLY,
    2003: FiscalPeriods.MONTHLY,
    2004: FiscalPeriods.FOUR_WEEKS,
}


def check_fiscal_years(platform: Platform, fiscal: FiscalCalendar) -> Iterator[Step]:
    """Compare `fiscal` with the organisation's settings, if it has a record of them. Yield steps."""
    try:
        if _ORGANIZATION not in platform.entities():
            return
        settings = _fiscal_settings(platform)
    except PlatformError as error:
        yield _unknown(
            Sentence("The organisation's own settings cannot be read: %(error)s", error=str(error))
        )
        return
    start, periods = settings.get(_START), settings.get(_PERIODS)
    if not isinstance(start, dt.date) and periods is None:
        yield _unknown(
            Sentence("The organisation does not say when its fiscal years begin and how they are divided.")
        )
        return
    differences = list(_differences(start, periods, fiscal))
    yield from differences
    if not differences:
        yield Step(_NAME, Outcome.GOOD, Sentence("The settings are those of the organisation."))


def _fiscal_settings(platform: Platform) -> Mapping[str, Value]:
    """Return the organisation's settings of fiscal years, as far as they can be read, by attribute."""
    attributes = platform.attributes(_ORGANIZATION)
    columns = tuple(
        Column(name) for name in (_START, _PERIODS) if name in attributes and attributes[name].readable
    )
    rows = platform.query(Query(_ORGANIZATION, columns, top=1), ALL).rows if columns else []
    return rows[0] if rows else {}


def _differences(start: Value, periods: Value, fiscal: FiscalCalendar) -> Iterator[Step]:
    """Yield a warning for each difference between the organisation's fiscal year and the service's
    settings.
    """
    if isinstance(start, dt.date) and (start.month, start.day) != fiscal.start:
        theirs, configured = f"{start:%m-%d}", "{:02}-{:02}".format(*fiscal.start)
        yield Step(
            _NAME,
            Outcome.WARNING,
            Sentence(
                "The organisation's fiscal years begin on %(there)s, those of the service on %(here)s.",
                there=theirs,
                here=configured,
            ),
            Sentence("Set %(setting)s.", setting=f"CRM_FISCAL_YEAR_START={theirs}"),
        )
    if periods is None:
        return
    # By its type the value may be anything, so it is read as a text; the attribute holds whole numbers.
    their_periods = _PERIODS_BY_NUMBER.get(int(str(periods)))
    if their_periods is None:
        yield _unknown(
            Sentence(
                "The organisation divides its fiscal years into %(periods)s, which the "
                "service does not know.",
                periods=str(periods),
            )
        )
    elif their_periods is not fiscal.periods:
        yield Step(
            _NAME,
            Outcome.WARNING,
            Sentence(
                "The organisation divides its fiscal years %(there)s, the service %(here)s.",
                there=their_periods.value,
                here=fiscal.periods.value,
            ),
            Sentence("Set %(setting)s.", setting=f"CRM_FISCAL_PERIODS={their_periods.value}"),
        )


def _unknown(detail: str) -> Step:
    """Return the warning that the settings cannot be compared, because of `detail`."""
    return Step(
        _NAME,
        Outcome.WARNING,
        detail,
        Sentence(
            "Compare CRM_FISCAL_YEAR_START and CRM_FISCAL_PERIODS with Business closures and fiscal year in "
            "the Power Platform admin center."
        ),
    )
