"""`checkplatform` compares the settings of fiscal years with those of the organisation."""

from __future__ import annotations

import datetime as dt

import pytest

from crmbox.metadata import change
from crmbox.platform import EmbeddedPlatform
from crmclient.dataverse.checkup import Outcome
from crmclient.dataverse.fiscal_checkup import check_fiscal_years
from crmclient.metadata import Attribute, AttributeType, Entity, Label
from crmclient.query.fiscal import FiscalCalendar, FiscalPeriods

APRIL = dt.datetime(2020, 4, 1, tzinfo=dt.UTC)


@pytest.fixture
def platform(portico: None) -> EmbeddedPlatform:
    """One with an entity of the organisation, which has no record yet."""
    entity = Entity("organization", "organizations", Label(), Label(), "organizationid", "name")
    with change() as metadata:
        metadata.create_entity(
            entity,
            (
                Attribute("name", AttributeType.STRING, is_primary_name=True),
                Attribute("fiscalcalendarstart", AttributeType.DATETIME),
                Attribute("fiscalperiodtype", AttributeType.INTEGER),
            ),
        )
    return EmbeddedPlatform()


def said(platform: EmbeddedPlatform, fiscal: FiscalCalendar) -> list[tuple[Outcome, str]]:
    return [(step.outcome, step.advice) for step in check_fiscal_years(platform, fiscal)]


def test_settings_that_are_the_organisations_are_good(platform: EmbeddedPlatform) -> None:
    platform.create("organization", {"fiscalcalendarstart": APRIL, "fiscalperiodtype": 2003})
    assert said(platform, FiscalCalendar((4, 1), FiscalPeriods.MONTHLY)) == [(Outcome.GOOD, "")]


def test_each_setting_that_differs_is_named_with_its_value(platform: EmbeddedPlatform) -> None:
    platform.create("organization", {"fiscalcalendarstart": APRIL, "fiscalperiodtype": 2003})
    assert said(platform, FiscalCalendar()) == [
        (Outcome.WARNING, "Set CRM_FISCAL_YEAR_START=04-01."),
        (Outcome.WARNING, "Set CRM_FISCAL_PERIODS=monthly."),
    ]


def test_what_cannot_be_compared_is_said(platform: EmbeddedPlatform) -> None:
    [(outcome, advice)] = said(platform, FiscalCalendar())
    assert outcome is Outcome.WARNING
    assert "Business closures and fiscal year" in advice
    platform.create("organization", {"fiscalcalendarstart": APRIL, "fiscalperiodtype": 7})
    [(outcome, advice)] = said(platform, FiscalCalendar((4, 1)))
    assert outcome is Outcome.WARNING
    assert "Business closures and fiscal year" in advice


def test_a_platform_without_an_organisation_has_nothing_to_compare(portico: None) -> None:
    assert said(EmbeddedPlatform(), FiscalCalendar()) == []
