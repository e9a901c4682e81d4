"""Documents as they are pasted that cannot be read, and what is said of each."""

from __future__ import annotations

from tests.query.exports import CHART, HEAD


def _filtered(condition: str) -> str:
    return (
        f"{HEAD}<entity name='account'><attribute name='name'/><filter>{condition}</filter></entity></fetch>"
    )


# What is refused, and a part of the sentence that says so.
REFUSED = {
    "an operator that there is not": (
        _filtered('<condition attribute="name" operator="ne-null"/>'),
        "there is no operator 'ne-null'",
    ),
    "a join inside a filter": (
        _filtered('<link-entity name="contact" from="parentcustomerid" to="accountid" link-type="outer"/>'),
        "a link-entity inside a filter has the link-type any, not any, all or not all, not 'outer'",
    ),
    "another tool's placeholder": (
        _filtered('<condition attribute="name" operator="eq" value="{0}"/>'),
        "'{0}' is a placeholder of another tool",
    ),
    "a parameter in a pattern": (
        _filtered('<condition attribute="name" operator="like" value="%@name%"/>'),
        "a parameter cannot be part of a pattern",
    ),
    "a later page of no size": (
        _filtered("").replace("<fetch", "<fetch page='2'"),
        "page needs count, which says how many rows a page has",
    ),
    "counted children": (
        f"{CHART}<entity name='account'><attribute name='accountid' alias='n' rowaggregate='CountChildren'/>"
        "</entity></fetch>",
        "the attribute rowaggregate is not supported",
    ),
    "no value": (
        _filtered('<condition attribute="name" operator="eq"/>'),
        "the attribute value or valueof, or value elements, must be given",
    ),
    "half a document": ("<fetch><entity name='account'>", "it is not well-formed XML"),
    "a document type": (
        '<!DOCTYPE x [<!ENTITY y SYSTEM "file:///etc/passwd">]><fetch><entity name="account"/></fetch>',
        "a DOCTYPE is not allowed",
    ),
}
