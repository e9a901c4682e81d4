"""The entities of the demo, a module each, under the platform's own logical names and lengths."""

from crmclient.embedded.demo.entities.account import ACCOUNT
from crmclient.embedded.demo.entities.contact import CONTACT
from crmclient.embedded.demo.entities.incident import INCIDENT
from crmclient.embedded.demo.entities.lead import LEAD
from crmclient.embedded.demo.entities.opportunity import OPPORTUNITY

ENTITIES = (ACCOUNT, CONTACT, LEAD, OPPORTUNITY, INCIDENT)
