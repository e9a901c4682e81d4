"""What is not supported is named, all of it at once; what is not XML never gets that far."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from crmbox.platform import EmbeddedPlatform
from crmclient.errors import InvalidQuery, UnfitValue
from crmclient.metadata import Attribute
from crmclient.query.calendar import Calendar
from crmclient.query.families import UNREADABLE
from crmclient.query.fetchxml import parse, write
from crmclient.query.fetchxml_checks import parse_known, parse_known_filter
from crmclient.query.problems import QueryProblems
from crmclient.query.resolving import Circumstances, prepare
from crmclient.query.shape import DEEPEST_DESIGNED


def refused(text: str) -> list[tuple[str, str]]:
    with pytest.raises(QueryProblems) as caught:
        parse(text)
    assert isinstance(caught.value, InvalidQuery)
    return [(problem.construct, problem.message) for problem in caught.value.problems]


def entity(inside: str, fetch: str = "") -> str:
    return f'<fetch {fetch}><entity name="account">{inside}</entity></fetch>'


def condition(inside: str) -> str:
    return entity(f"<filter>{inside}</filter>")


def links(count: int) -> str:
    return "".join(f'<link-entity name="c" from="a" to="b" alias="l{n}"/>' for n in range(count))


@pytest.mark.parametrize(
    ("text", "construct", "message"),
    [
        (entity("", 'top="5" page="1"'), "fetch", "top excludes page and count"),
        (entity("", 'top="5" count="5"'), "fetch", "top excludes page and count"),
        (entity("", 'top="0"'), "fetch", "top '0' is not a whole number of at least 1"),
        (entity("", 'page="2"'), "fetch", "page needs count"),
        (entity("", 'useraworderby="1"'), "fetch", "useraworderby is not supported"),
        (entity("", 'mapping="internal"'), "fetch", "mapping 'internal' is not supported"),
        (entity("", 'datasource="retained"'), "fetch", "datasource is not supported"),
        (entity("", 'utc-offset="60"'), "fetch", "utc-offset is not supported"),
        (entity("", 'shape="round"'), "fetch", "the attribute shape is not known here"),
        (entity("", 'distinct="maybe"'), "fetch", "distinct 'maybe' is neither true nor false"),
        ("<fetch/>", "fetch", "exactly one entity element is needed, not 0"),
        ("<fetch><entity name='a'/><entity name='b'/></fetch>", "fetch", "exactly one entity element"),
        ("<fetch><entity/></fetch>", "entity", "the attribute name is missing"),
        ("<fetch><entity name='a' alias='b'/></fetch>", "entity a", "the attribute alias is not known here"),
        ("<fetch><entity name='a' enableprefiltering='1'/></fetch>", "entity a", "enableprefiltering"),
        (entity("<sort by='x'/>"), "entity account", "the element sort is not known here"),
        (entity("{% if x %}"), "entity account", "the text '{% if x %}' does not belong here"),
        (entity("<attribute name='my name'/>"), "attribute my name", "is not a name"),
        (
            entity("<attribute name='name' formatted-value='1'/>"),
            "attribute name",
            "the attribute formatted-value is not known here",
        ),
        (entity("<attribute name='a' rowaggregate='CountChildren'/>"), "attribute a", "rowaggregate"),
        (entity("<attribute name='a' groupby='true' alias='b'/>"), "attribute a", 'need aggregate="true"'),
        (entity("<attribute name='a' aggregate='sum'/>", "aggregate='1'"), "attribute a", "needs an alias"),
        (
            entity("<attribute name='a' alias='b'/>", "aggregate='1'"),
            "attribute a",
            "either grouped or aggregated",
        ),
        (
            entity("<attribute name='a' alias='b' aggregate='median'/>", "aggregate='1'"),
            "attribute a",
            "aggregate 'median' is not supported; there are count, countcolumn, sum, avg, min, max",
        ),
        (
            entity("<attribute name='a' alias='b' groupby='1' dategrouping='decade'/>", "aggregate='1'"),
            "attribute a",
            "dategrouping 'decade' is not supported",
        ),
        (
            entity("<attribute name='a' alias='b' aggregate='sum' distinct='1'/>", "aggregate='1'"),
            "attribute a",
            "distinct belongs to the aggregate countcolumn",
        ),
        (entity("<all-attributes/>", "aggregate='true'"), "all-attributes", "cannot have all-attributes"),
        (entity("", "aggregate='true'"), "entity account", "need columns that are grouped or aggregated"),
        (entity("<order alias='a'/>"), "order a", "only aggregate queries are sorted by alias"),
        (
            entity("<order attribute='a'/><attribute name='a' alias='b' groupby='1'/>", "aggregate='true'"),
            "order a",
            "aggregate queries are sorted by the alias",
        ),
        (entity("<order attribute='a' entityname='c'/>"), "order a", "entityname 'c' is neither"),
        (
            entity(
                "<order attribute='a'/><link-entity name='c' from='a' to='b' alias='c'>"
                "<order attribute='d'/></link-entity>"
            ),
            "entity account",
            "which comes first is not defined",
        ),
        (entity("<filter type='xor'/>"), "filter", "the type 'xor' is neither and nor or"),
        (
            condition("<condition attribute='a' operator='ne-null'/>"),
            "condition a ne-null",
            "there is no operator",
        ),
        (condition("<condition attribute='a'/>"), "condition a", "the attribute operator is missing"),
        (condition("<condition operator='null'/>"), "condition  null", "the attribute attribute is missing"),
        (condition("<condition attribute='a' operator='eq'/>"), "condition a eq", "value or valueof"),
        (condition("<condition attribute='a' operator='in'/>"), "condition a in", "value or valueof"),
        (
            condition("<condition attribute='a' operator='in' value='1,2'/>"),
            "condition a in",
            "several values stand in value elements",
        ),
        (
            condition("<condition attribute='a' operator='between'><value>1</value></condition>"),
            "condition a between",
            "between takes two values",
        ),
        (condition("<condition attribute='a' operator='null' value='1'/>"), "condition a null", "no value"),
        (
            condition("<condition attribute='a' operator='eq' value='1'><value>2</value></condition>"),
            "condition a eq",
            "both a value and value elements",
        ),
        (
            condition("<condition attribute='a' operator='like' valueof='b'/>"),
            "condition a like",
            "valueof is compared by eq",
        ),
        (
            condition("<condition attribute='a' operator='eq' valueof='x.b'/>"),
            "condition a eq",
            "valueof 'x.b': entityname 'x' is neither",
        ),
        (
            condition("<condition entityname='x' attribute='a' operator='null'/>"),
            "condition a null",
            "entityname 'x' is neither a link's alias nor the entity",
        ),
        (
            condition("<condition attribute='a' aggregate='sum' alias='b' operator='gt' value='1'/>"),
            "condition a gt",
            "the attribute aggregate is not supported",
        ),
        (
            condition("<condition attribute='a' operator='eq-userlanguage'/>"),
            "condition a eq-userlanguage",
            "the caller's language is not known here",
        ),
        (
            condition("<condition attribute='a' operator='in-fiscal-period-and-year' value='1'/>"),
            "condition a in-fiscal-period-and-year",
            "takes two values",
        ),
        (
            condition("<condition attribute='a' operator='eq' value='{0}'/>"),
            "condition a eq",
            "'{0}' is a placeholder of another tool",
        ),
        (
            condition("<condition attribute='a' operator='like' value='%{{ user.name }}%'/>"),
            "condition a like",
            "'{{ user.name }}' is a placeholder",
        ),
        (
            condition("<condition attribute='a' operator='eq' value='${id}'/>"),
            "condition a eq",
            "'${id}' is a",
        ),
        (
            condition("<condition attribute='a' operator='eq' value=\"@{triggerBody()?['id']}\"/>"),
            "condition a eq",
            "is a placeholder of another tool",
        ),
        (
            condition("<condition attribute='a' operator='eq' value='@caller.id'/>"),
            "condition a eq",
            "'@caller.id' is not a placeholder",
        ),
        (
            condition("<condition attribute='a' operator='like' value='%@name%'/>"),
            "condition a like",
            "a parameter cannot be part of a pattern",
        ),
        (
            condition("<link-entity name='c' from='a' to='b'/>"),
            "link-entity c",
            "a link-entity inside a filter has the link-type any, not any, all or not all, not 'inner'",
        ),
        (
            entity("<link-entity name='c' from='a' to='b' alias='l' link-type='natural'/>"),
            "link-entity c (l)",
            "the link-type 'natural' is not supported; there are inner, outer, matchfirstrowusingcrossapply",
        ),
        *(
            (
                entity(
                    f"<link-entity name='c' from='a' to='b' alias='l' link-type='{kind}'>"
                    f"{inside}</link-entity>"
                ),
                "link-entity c (l)",
                f"a link-entity of the link-type {kind!r} gives no columns",
            )
            for kind in ("any", "not any", "all", "not all", "exists", "in")
            for inside in (
                "<attribute name='d'/>",
                "<order attribute='d'/>",
                "<link-entity name='e' from='f' to='g'><all-attributes/></link-entity>",
            )
        ),
        (entity("<link-entity name='c'/>"), "link-entity c (c1)", "the attribute from is missing"),
        (entity(links(16)), "entity account", "it has 16 link-entity elements; at most 15 are allowed"),
        (entity(links(1) + links(1)), "entity account", "the alias 'l0' is used by more than one"),
        (
            entity(
                "<filter><link-entity name='c' from='a' to='b' link-type='any' alias='l0'/></filter>"
                + links(1)
            ),
            "entity account",
            "the alias 'l0' is used by more than one",
        ),
        ("<grid/>", "document", "it begins with grid, not with fetch"),
        ("select name from account", "document", "not well-formed XML"),
        ("", "document", "not well-formed XML"),
        ("<fetch>", "document", "not well-formed XML"),
        ("<fetch>&nbsp;</fetch>", "document", "not well-formed XML"),
        ("<fetch>\ud83d</fetch>", "document", "half of a character"),
        ("<!DOCTYPE fetch><fetch/>", "document", "a DOCTYPE is not allowed"),
        ('<!DOCTYPE f SYSTEM "http://127.0.0.1:9/x.dtd"><fetch/>', "document", "a DOCTYPE is not allowed"),
        ("<fetch>" + " " * 200_000 + "</fetch>", "document", "longer than 200000 characters"),
        ("<fetch>" + "<entity>" * 400 + "</entity>" * 400 + "</fetch>", "document", "not well-formed"),
    ],
)
def test_each_construct_is_named(text: str, construct: str, message: str) -> None:
    problems = refused(text)
    assert any(problem[0] == construct and message in problem[1] for problem in problems), problems


def test_everything_wrong_is_said_at_once_with_its_line() -> None:
    with pytest.raises(QueryProblems) as caught:
        parse("""<fetch top="5" count="10">
  <entity name="account">
    <filter>
      <condition attribute="a" operator="ne-null"/>
      <condition attribute="b" operator="eq"/>
    </filter>
    <link-entity name="contact" from="a" to="b" link-type="natural" alias="c">
      <filter><condition attribute="d" operator="eq-roleid"/></filter>
    </link-entity>
  </entity>
</fetch>""")
    assert [(problem.line, problem.construct) for problem in caught.value.problems] == [
        (1, "fetch"),
        (4, "condition a ne-null"),
        (5, "condition b eq"),
        (7, "link-entity contact (c)"),
        (8, "condition d eq-roleid"),
    ]
    assert str(caught.value).splitlines()[1].startswith("line 4: condition a ne-null: there is no operator")


def test_entities_are_not_expanded() -> None:
    bomb = "<!DOCTYPE f [<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;&a;'><!ENTITY c '&b;&b;&b;&b;'>]>"
    [(construct, _)] = refused(f"{bomb}<fetch><entity name='account'>&c;</entity></fetch>")
    assert construct == "document"


def test_a_file_is_not_read() -> None:
    text = "<!DOCTYPE f [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><fetch><entity name='&x;'/></fetch>"
    assert "root:" not in str(refused(text))


WORDS = st.sampled_from(
    ["", "a", "b", "1", "0", "true", "eq", "in", "between", "null", "today", "eq-userid", "or", "outer",
     "sum", "month", "@p", "@user.x", "a.b", "-1", "ne-null"]
)  # fmt: skip
ATTRIBUTES = st.dictionaries(
    st.sampled_from(
        ["name", "alias", "attribute", "operator", "value", "valueof", "entityname", "from", "to",
         "link-type", "type", "aggregate", "groupby", "dategrouping", "distinct",
         "descending", "top", "count", "page"]
    ),
    WORDS,
    max_size=6,
)  # fmt: skip
TAGS = st.sampled_from(
    ["entity", "attribute", "all-attributes", "order", "filter", "condition", "value", "link-entity", "x"]
)


def element(tag: str, attributes: dict[str, str], children: list[etree._Element]) -> etree._Element:
    made = etree.Element(tag, attributes)
    made.extend(children)
    return made


ELEMENTS = st.recursive(
    st.builds(element, TAGS, ATTRIBUTES, st.just([])),
    lambda inner: st.builds(element, TAGS, ATTRIBUTES, st.lists(inner, max_size=4)),
    max_leaves=12,
)


@given(st.builds(element, st.sampled_from(["fetch", "entity"]), ATTRIBUTES, st.lists(ELEMENTS, max_size=4)))
def test_whatever_stands_there_is_read_or_refused(root: etree._Element) -> None:
    try:
        query = parse(etree.tostring(root, encoding="unicode"))
    except QueryProblems as error:
        assert error.problems  # noqa: PT017  either outcome will do
    else:
        assert parse(write(query)) == query


@given(st.text())
def test_whatever_is_pasted_is_read_or_refused(text: str) -> None:
    with pytest.raises(QueryProblems):
        parse(text)


@pytest.mark.django_db
def test_metadata_names_everything_unknown_and_unfitting_at_once(crm: EmbeddedPlatform) -> None:
    query = parse("""<fetch><entity name="account">
      <attribute name="nme"/>
      <order attribute="colour"/>
      <filter>
        <condition attribute="industrycode" operator="eq" value="Consulting"/>
        <condition attribute="statecodename" operator="eq" value="Active"/>
        <condition attribute="revenue" operator="gt" value="1,000"/>
        <condition attribute="creditonhold" operator="eq" value="yes"/>
        <condition attribute="accountid" operator="eq" value="42"/>
        <condition attribute="ownerid" operator="eq" value="Rita"/>
        <condition attribute="name" operator="eq" value=""/>
        <condition attribute="name" operator="eq-userid"/>
        <condition attribute="new_logo" operator="eq" value="1"/>
      </filter>
      <link-entity name="contakt" from="contactid" to="primarycontactid" alias="c"/>
      <link-entity name="contact" from="contactid" to="maincontact" alias="d"/>
    </entity></fetch>""")
    with pytest.raises(QueryProblems) as caught:
        prepare(query, crm.attributes)
    assert [problem.construct for problem in caught.value.problems] == [
        "link-entity c",
        "attribute nme",
        "condition industrycode eq",
        "condition statecodename eq",
        "condition revenue gt",
        "condition creditonhold eq",
        "condition accountid eq",
        "condition ownerid eq",
        "condition name eq",
        "condition name eq-userid",
        "condition new_logo eq",
        "link-entity d to",
        "order colour",
    ]


@pytest.mark.django_db
def test_a_filter_says_unknown_names_along_with_what_cannot_be_read(crm: EmbeddedPlatform) -> None:
    text = """<filter>
      <condition attribute="langage" operator="eq-userlanguage"/>
      <condition attribute="colour" operator="eq" value="red"/>
      <condition attribute="name" operator="eq" value="Contoso"/>
    </filter>"""
    with pytest.raises(QueryProblems) as caught:
        parse_known_filter(text, "account", crm.attributes, Calendar())
    assert [(problem.construct, str(problem.message)) for problem in caught.value.problems] == [
        (
            "condition langage eq-userlanguage",
            "the operator eq-userlanguage is not supported: the caller's language is not known here",
        ),
        ("condition langage not-null", "the entity 'account' has no attribute 'langage'"),
        ("condition colour eq", "the entity 'account' has no attribute 'colour'"),
    ]
    # In a text that can be read, the names are for `prepare_filter` to check.
    parse_known_filter(text.replace("eq-userlanguage", "not-null"), "account", crm.attributes, Calendar())


@pytest.mark.django_db
def test_unknown_names_are_said_along_with_what_cannot_be_read(crm: EmbeddedPlatform) -> None:
    text = """<fetch useraworderby="true"><entity name="account">
      <attribute name="nme"/>
      <order attribute="colour"/>
      <filter>
        <condition attribute="langage" operator="eq-userlanguage"/>
        <link-entity name="contact" from="parentcustomerid" to="acountid" link-type="any" alias="c">
          <filter><condition attribute="emial" operator="eq"/></filter>
        </link-entity>
      </filter>
    </entity></fetch>"""
    with pytest.raises(QueryProblems) as caught:
        parse_known(text, crm.attributes, Calendar())
    assert [(problem.construct, str(problem.message)) for problem in caught.value.problems] == [
        ("fetch", "useraworderby is not supported: choices are sorted by their labels"),
        (
            "condition langage eq-userlanguage",
            "the operator eq-userlanguage is not supported: the caller's language is not known here",
        ),
        ("condition emial eq", "the attribute value or valueof, or value elements, must be given"),
        ("attribute nme", "the entity 'account' has no attribute 'nme'"),
        ("link-entity c to", "the entity 'account' has no attribute 'acountid'"),
        ("condition emial not-null", "the entity 'contact' has no attribute 'emial'"),
        ("condition langage not-null", "the entity 'account' has no attribute 'langage'"),
        ("order colour", "the entity 'account' has no attribute 'colour'"),
    ]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("inside", "construct", "message"),
    [
        (
            "<condition attribute='name' operator='under' value='1'/>",
            "condition name under",
            "the operator does not apply to a text",
        ),
        (
            "<link-entity name='lead' from='parentaccountid' to='accountid' link-type='any' alias='l'>"
            "<filter><condition attribute='leadid' operator='under' value='1'/></filter></link-entity>",
            "condition leadid under",
            "form no hierarchy",
        ),
        (
            "<condition entityname='c' attribute='fullname' operator='not-null'/>"
            "<link-entity name='contact' from='parentcustomerid' to='accountid' link-type='any' alias='c'/>",
            "condition c.fullname not-null",
            "cannot be named outside of it",
        ),
    ],
)
def test_metadata_tells_what_cannot_be_asked(
    crm: EmbeddedPlatform, inside: str, construct: str, message: str
) -> None:
    with pytest.raises(QueryProblems) as caught:
        prepare(parse(condition(inside)), crm.attributes)
    [problem] = caught.value.problems
    assert problem.construct == construct
    assert message in str(problem.message)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("inside", "construct"),
    [
        ('<attribute name="primarycontactidname"/>', "attribute primarycontactidname"),
        (
            '<filter><condition attribute="primarycontactidname" operator="like" value="A%"/></filter>',
            "condition primarycontactidname like",
        ),
        ('<order attribute="primarycontactidname"/>', "order primarycontactidname"),
        (
            '<filter><condition attribute="createdby" operator="eq" valueof="primarycontactid"/></filter>',
            "condition createdby eq",
        ),
        (
            '<link-entity name="contact" from="contactid" to="primarycontactid" alias="c"/>',
            "link-entity c to",
        ),
    ],
    ids=["column", "condition", "order", "comparison", "link"],
)
def test_the_name_of_a_lookup_that_nobody_reads_is_not_read(
    crm: EmbeddedPlatform, inside: str, construct: str
) -> None:
    def attributes(entity: str) -> Mapping[str, Attribute]:
        return {
            name: replace(attribute, readable=name != "primarycontactid")
            for name, attribute in crm.attributes(entity).items()
        }

    with pytest.raises(QueryProblems) as caught:
        prepare(parse(entity(inside)), attributes)
    [problem] = caught.value.problems
    assert (problem.construct, problem.message) == (construct, UNREADABLE)


def grouped(attribute: str) -> str:
    return f'<attribute name="{attribute}" groupby="true" alias="x"/>'


def counted(attribute: str) -> str:
    return f'<attribute name="{attribute}" aggregate="countcolumn" alias="x"/>'


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("fetch", "name", "inside", "message"),
    [
        ("distinct", "email", '<attribute name="to"/>', "by a party list; select activityid, too"),
        ("distinct", "account", '<attribute name="new_contract"/>', "by a file; select accountid, too"),
        ("distinct", "account", "<all-attributes/>", ""),
        ("distinct", "email", '<attribute name="to"/><attribute name="activityid" alias="i"/>', ""),
        (
            "distinct",
            "account",
            '<attribute name="primarycontactidname"/>',
            "by the name of a lookup's record; select primarycontactid, too",
        ),
        (
            "distinct",
            "account",
            '<attribute name="primarycontactidname"/><attribute name="primarycontactid"/>',
            "",
        ),
        (
            "distinct",
            "contact",
            '<link-entity name="account" from="primarycontactid" to="contactid" alias="a">'
            '<attribute name="new_contract"/></link-entity>',
            "select accountid, too",
        ),
        ("aggregate", "email", grouped("to"), "a party list is not grouped by"),
        ("aggregate", "account", grouped("new_contract"), "a file is not grouped by"),
        ("aggregate", "account", grouped("primarycontactidname"), "take primarycontactid instead"),
        ("aggregate", "account", counted("primarycontactidname"), "take primarycontactid instead"),
        ("aggregate", "account", counted("new_contract"), ""),
    ],
)
def test_what_tells_no_rows_apart_is_said(
    crm: EmbeddedPlatform, fetch: str, name: str, inside: str, message: str
) -> None:
    text = f'<fetch {fetch}="true"><entity name="{name}">{inside}</entity></fetch>'
    try:
        prepare(parse(text), crm.attributes)
        problems = []
    except QueryProblems as error:
        problems = [str(problem.message) for problem in error.problems]
    assert len(problems) == bool(message)
    assert message in "".join(problems)


@pytest.mark.django_db
def test_all_attributes_keep_their_names(crm: EmbeddedPlatform) -> None:
    with pytest.raises(QueryProblems) as caught:
        prepare(parse(entity('<all-attributes/><attribute name="fax" alias="name"/>')), crm.attributes)
    [problem] = caught.value.problems
    assert (problem.construct, str(problem.message)) == (
        "attribute name",
        "2 columns have this name; give them aliases",
    )


@pytest.mark.django_db
def test_all_attributes_are_not_the_names_of_records(crm: EmbeddedPlatform) -> None:
    text = entity('<all-attributes/><order attribute="primarycontactidname"/>', 'distinct="true"')
    with pytest.raises(QueryProblems) as caught:
        prepare(parse(text), crm.attributes)
    [problem] = caught.value.problems
    assert problem.construct == "order primarycontactidname"
    assert "sorted by columns that it selects only" in str(problem.message)


@pytest.mark.django_db
def test_what_is_nested_too_deep_for_the_platforms_is_said(crm: EmbeddedPlatform) -> None:
    def nested(depth: int) -> str:
        inside = '<condition attribute="name" operator="not-null"/>'
        return entity("<filter>" * depth + inside + "</filter>" * depth)

    prepare(parse(nested(DEEPEST_DESIGNED)), crm.attributes)
    with pytest.raises(QueryProblems) as caught:
        prepare(parse(nested(DEEPEST_DESIGNED + 1)), crm.attributes)
    [problem] = caught.value.problems
    assert "nested more than 40 deep" in str(problem.message)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("operator", "text", "message"),
    [
        ("like", "x" * 4001, "at most 4000 characters"),
        ("contains", "%" * 1333, "at most 4000 characters"),
    ],
)
def test_a_text_that_no_platform_takes_does_not_fit(
    crm: EmbeddedPlatform, operator: str, text: str, message: str
) -> None:
    inside = f'<condition attribute="name" operator="{operator}" value="@text"/>'
    prepared = prepare(parse(condition(inside)), crm.attributes)
    with pytest.raises(UnfitValue, match=message):
        prepared.resolve(Circumstances(dt.datetime.now(dt.UTC), {"text": text}))


def test_an_aggregate_that_there_is_not_is_one_problem() -> None:
    columns = "<attribute name='a' alias='b' {} distinct='1'/><attribute name='a' alias='c' aggregate='sum'/>"
    median = entity(columns.format("aggregate='median'"), "aggregate='1'")
    with pytest.raises(QueryProblems) as caught:
        parse(median)
    [problem] = caught.value.problems
    assert "median" in str(problem.sentence)
