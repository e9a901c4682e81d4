"""Opportunity close: the activity that tells how an opportunity was won or lost."""

from __future__ import annotations

from typing import Final

from crmbox.demo.attributes import lookup, money
from crmbox.demo.entities.closing_attributes import closing_attributes
from crmbox.demo.entities.description import DemoEntity
from crmbox.demo.labels import label
from crmbox.metadata import Extras
from crmclient.metadata import Cascade, Entity, Relationship, RequiredLevel

_ENTITY: Final = Entity(
    "opportunityclose",
    "opportunitycloses",
    label("Opportunity Close", "Abschluss der Verkaufschance", "إغلاق الفرصة"),
    label("Opportunity Close Activities", "Abschlüsse der Verkaufschancen", "أنشطة إغلاق الفرص"),
    primary_id="activityid",
    primary_name="subject",
    description=label("Activity that is created when an opportunity is closed."),
)

_ATTRIBUTES: Final = (
    *closing_attributes("opportunityclose"),
    lookup(
        "opportunityid",
        label("Opportunity", "Verkaufschance", "الفرصة"),
        "opportunity",
        required=RequiredLevel.APPLICATION,
    ),
    money("actualrevenue", label("Actual Revenue", "Tatsächlicher Umsatz", "الإيرادات الفعلية")),
)

_RELATIONSHIPS: Final = (
    Relationship(
        "Opportunity_OpportunityClose",
        "opportunity",
        "opportunityclose",
        "opportunityid",
        on_delete=Cascade.DELETE,
    ),
)

OPPORTUNITY_CLOSE: Final = DemoEntity(_ENTITY, _ATTRIBUTES, _RELATIONSHIPS, Extras())
