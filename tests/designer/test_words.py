"""Queries and filters in words."""

from __future__ import annotations

import pytest
from django.utils.translation import override

from crmclient.query.ast import LinkType
from crmclient.query.fetchxml import parse, parse_filter
from designer.platform import get_platform
from designer.queries.query_wording import (
    LINK_WORDS,
    OPERATOR_WORDS,
    filter_in_words,
    operator_words,
    query_in_words,
)

pytestmark = pytest.mark.usefixtures("portico")


def _filter(text: str) -> str:
    return filter_in_words(parse_filter(f"<filter>{text}</filter>"), "account", get_platform().attributes)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('<condition attribute="statecode" operator="eq" value="0"/>', "Status is Active"),
        (
            '<condition attribute="name" operator="begins-with" value="Con"/>',
            "Account Name begins with “Con”",
        ),
        ('<condition attribute="creditonhold" operator="eq" value="0"/>', "Credit Hold is No"),
        ('<condition attribute="ownerid" operator="eq" value="@user.id"/>', "Owner is @user.id"),
        ('<condition attribute="ownerid" operator="eq-userid"/>', "Owner is the caller"),
        ('<condition attribute="telephone1" operator="null"/>', "Main Phone is empty"),
        (
            '<condition attribute="createdon" operator="last-x-days" value="7"/>',
            "Created On is in the last 7 days",
        ),
        (
            '<condition attribute="industrycode" operator="in"><value>1</value><value>2</value></condition>',
            "Industry is one of Accounting, Agriculture and Non-petrol Natural Resource Extraction",
        ),
        ("", "anything"),
    ],
)
def test_a_condition_in_words(text: str, words: str) -> None:
    assert _filter(text) == words


def test_groups_keep_their_brackets() -> None:
    owner = '<condition attribute="ownerid" operator="eq-userid"/>'
    active = '<condition attribute="statecode" operator="eq" value="0"/>'
    text = _filter(f'{active}<filter type="or">{owner}{active}</filter>')
    assert text == "Status is Active and (Owner is the caller or Status is Active)"


def test_a_query_in_one_sentence() -> None:
    query = parse(
        '<fetch><entity name="account"><attribute name="name"/><order attribute="name" descending="true"/>'
        '<filter><condition attribute="statecode" operator="eq" value="0"/></filter>'
        '<link-entity name="contact" from="contactid" to="primarycontactid" alias="c" link-type="outer"/>'
        "</entity></fetch>"
    )
    platform = get_platform()
    assert query_in_words(query, platform.entities(), platform.attributes) == (
        "Accounts, where Status is Active, with their Contact, if any, by Account Name descending, "
        "with 1 column."
    )


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ("", "Accounts, with no columns chosen."),
        ("<all-attributes/>", "Accounts, with all columns."),
        ('<attribute name="name"/><attribute name="revenue"/>', "Accounts, with 2 columns."),
    ],
)
def test_the_columns_of_a_query_in_words(columns: str, words: str) -> None:
    platform = get_platform()
    query = parse(f'<fetch><entity name="account">{columns}</entity></fetch>')
    assert query_in_words(query, platform.entities(), platform.attributes) == words


def test_links_in_filters_in_words() -> None:
    text = _filter(
        '<condition attribute="statecode" operator="eq" value="0"/>'
        '<link-entity name="contact" from="parentcustomerid" to="accountid" link-type="not any"><filter>'
        '<condition attribute="parentcustomerid" operator="not-null"/></filter></link-entity>'
    )
    assert text == "Status is Active and (there is no contact where Company Name is not empty)"


def test_every_link_type_has_words() -> None:
    assert set(LINK_WORDS) == set(LinkType)


def test_every_operator_has_words() -> None:
    from crmclient.query.designed import OPERATORS

    assert set(OPERATOR_WORDS) == set(OPERATORS)
    assert all(operator_words(name) and "-" not in operator_words(name) for name in OPERATORS)


@pytest.mark.parametrize("language", ["de", "ar"])
def test_every_operator_has_words_in_each_language(language: str) -> None:
    in_english = {name: operator_words(name) for name in OPERATOR_WORDS}
    with override(language):
        assert [name for name in OPERATOR_WORDS if operator_words(name) == in_english[name]] == []
