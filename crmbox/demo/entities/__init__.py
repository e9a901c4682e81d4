"""The entities of the demo, a module each, under the platform's own logical names and lengths."""

from crmbox.demo.entities.account import ACCOUNT
from crmbox.demo.entities.appointment import APPOINTMENT
from crmbox.demo.entities.contact import CONTACT
from crmbox.demo.entities.email import EMAIL
from crmbox.demo.entities.incident import INCIDENT
from crmbox.demo.entities.incident_resolution import INCIDENT_RESOLUTION
from crmbox.demo.entities.knowledge_article import KNOWLEDGE_ARTICLE
from crmbox.demo.entities.lead import LEAD
from crmbox.demo.entities.opportunity import OPPORTUNITY
from crmbox.demo.entities.opportunity_close import OPPORTUNITY_CLOSE
from crmbox.demo.entities.phone_call import PHONE_CALL

ENTITIES = (
    ACCOUNT,
    CONTACT,
    LEAD,
    OPPORTUNITY,
    OPPORTUNITY_CLOSE,
    INCIDENT,
    INCIDENT_RESOLUTION,
    KNOWLEDGE_ARTICLE,
    EMAIL,
    APPOINTMENT,
    PHONE_CALL,
)
