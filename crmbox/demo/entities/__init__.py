"""The entities of the demo, a module each, under the platform's own logical names and lengths."""

from crmbox.demo.entities.account import ACCOUNT
from crmbox.demo.entities.contact import CONTACT
from crmbox.demo.entities.incident import INCIDENT
from crmbox.demo.entities.knowledge_article import KNOWLEDGE_ARTICLE
from crmbox.demo.entities.lead import LEAD
from crmbox.demo.entities.opportunity import OPPORTUNITY

ENTITIES = (ACCOUNT, CONTACT, LEAD, OPPORTUNITY, INCIDENT, KNOWLEDGE_ARTICLE)
