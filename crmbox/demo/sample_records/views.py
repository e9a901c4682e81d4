"""Views of the demo, as Advanced Find writes them: the start of many a query."""

from __future__ import annotations

import datetime as dt
from typing import Final

from crmbox.demo.people import RITA_REP
from crmbox.demo.sample_records.script import Script, user
from crmclient.values import Value

_ACTIVE: Final = '<filter type="and"><condition attribute="statecode" operator="eq" value="0" /></filter>'


def _fetch(entity: str, columns: str, order: str, rest: str = _ACTIVE) -> str:
    """Return FetchXML. `columns` are attributes between blanks; `rest` is the XML of filters and links."""
    attributes = "".join(f'<attribute name="{name}" />' for name in columns.split())
    return (
        '<fetch version="1.0" output-format="xml-platform" mapping="logical" distinct="false">'
        f'<entity name="{entity}">{attributes}<order attribute="{order}" descending="false" />{rest}'
        "</entity></fetch>"
    )


_MINE: Final = (
    '<filter type="and"><condition attribute="ownerid" operator="eq-userid" />'
    '<condition attribute="statecode" operator="eq" value="0" /></filter>'
)
_RECENT: Final = (
    '<filter type="and"><condition attribute="createdon" operator="last-x-days" value="30" /></filter>'
)
_OF_ACTIVE_ACCOUNTS: Final = (
    '<link-entity name="account" from="accountid" to="parentcustomerid" link-type="inner" alias="company">'
    f'<attribute name="name" />{_ACTIVE}</link-entity>'
)

# Entity, name, columns, order, and what else the view has.
_ORGANIZATION: Final = (
    ("account", "Active Accounts", "name telephone1 address1_city primarycontactid", "name", _ACTIVE),
    ("account", "My Active Accounts", "name telephone1 address1_city", "name", _MINE),
    ("contact", "Active Contacts", "fullname emailaddress1 telephone1", "fullname", _ACTIVE),
    ("contact", "Contacts of Active Accounts", "fullname emailaddress1", "fullname", _OF_ACTIVE_ACCOUNTS),
    ("incident", "Active Cases", "title ticketnumber prioritycode createdon", "createdon", _ACTIVE),
    ("opportunity", "Open Opportunities", "name estimatedvalue estimatedclosedate", "name", _ACTIVE),
    ("lead", "Open Leads", "fullname subject createdon", "createdon", _ACTIVE),
)
_PERSONAL: Final = (
    ("account", "Accounts of the last 30 days", "name createdon ownerid", "createdon", _RECENT),
)


def write(script: Script) -> None:
    """Write the views of the organisation, and a personal one of Rita."""
    made = script.today - dt.timedelta(days=700)
    for entity, name, columns, order, rest in _ORGANIZATION:
        script.create("savedquery", name, _view(entity, name, columns, order, rest), made)
    for entity, name, columns, order, rest in _PERSONAL:
        view = _view(entity, name, columns, order, rest) | {"ownerid": user(RITA_REP)}
        script.create("userquery", name, view, made)


def _view(entity: str, name: str, columns: str, order: str, rest: str) -> dict[str, Value]:
    return {
        "name": name,
        "returnedtypecode": entity,
        "querytype": 0,
        "fetchxml": _fetch(entity, columns, order, rest),
    }
