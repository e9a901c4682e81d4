"""Changing the metadata while the CRM is running: `with change() as metadata: metadata.create_entity(…)`."""

from crmbox.metadata.change import Change, change
from crmbox.metadata.physical_columns import NO_EXTRAS, Extras

__all__ = ["NO_EXTRAS", "Change", "Extras", "change"]
