"""FetchXML to a query and back: stable, whatever the values hold."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from crmclient.errors import InvalidQuery
from crmclient.metadata import Attribute, AttributeType
from crmclient.query.ast import Aggregate, DateGrouping, LinkType, Operator, Order, Query
from crmclient.query.bounds import MOST_LINKS
from crmclient.query.designed import (
    OPERATORS,
    ClaimValue,
    DesignedColumn,
    DesignedCondition,
    DesignedFilter,
    DesignedLink,
    DesignedOperator,
    DesignedQuery,
    Literal,
    Parameter,
    UserValue,
    values_taken,
)
from crmclient.query.fetchxml import parse, write
from crmclient.query.fetchxml.plain_queries import write_plain
from crmclient.query.resolving import Circumstances, prepare, prepare_filter
from crmclient.query.shape import shape_of
from crmclient.text import is_storable

# XML 1.0 holds neither most control characters nor halves of characters.
TEXTS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\ufffe\uffff").filter(
        lambda character: character >= " " or character in "\t\n\r"
    ),
    max_size=20,
)
AWKWARD = st.sampled_from(
    ["", "'\"", "]]>", "&amp;", "&lt;x/>", "<value>1</value>", "<!-- -->", "{0}", "@name", "@user.id", "@=",
     "@=@name", "%@name%", "@a.b", "${x}", " a\r\n\tb ", "\u2028", "{{x}}", "a,b", "\U0001f600"]
)  # fmt: skip
NAMES = st.from_regex("[a-z_][a-z0-9_]{0,8}", fullmatch=True)
CLAIMS = st.from_regex(r'[a-z]{1,3}(\.[a-z]{1,3}|\."[a-z. /]{1,5}"|\[[0-9]\]){0,3}', fullmatch=True)
VALUES = st.one_of(
    (TEXTS | AWKWARD).map(Literal),
    NAMES.map(Parameter),
    NAMES.map(UserValue),
    CLAIMS.map(ClaimValue),
    TEXTS.map(lambda t: Literal("@" + t)),
)
LINKABLE = (Operator.EQ, Operator.NE, Operator.GT, Operator.GE, Operator.LT, Operator.LE)


@st.composite
def conditions(draw: st.DrawFn, aliases: tuple[str, ...]) -> DesignedCondition:
    operator: DesignedOperator = draw(
        st.sampled_from(sorted(OPERATORS.values(), key=lambda each: each.value))
    )
    link = draw(st.sampled_from((None, *aliases)))
    if operator in LINKABLE and link is None and draw(st.booleans()):
        other = draw(st.sampled_from((None, *aliases)))
        return DesignedCondition(draw(NAMES), operator, link=link, value_of=(other, draw(NAMES)))
    taken = values_taken(operator)
    count = draw(st.integers(1, 4)) if taken is None else taken
    values = tuple(draw(VALUES) for _ in range(count))
    return DesignedCondition(draw(NAMES), operator, values, link)


IN_FILTERS = [type for type in LinkType if type.stands_in_filter]
BESIDE_FILTERS = [LinkType.EXISTS, LinkType.IN]


def filters(aliases: tuple[str, ...]) -> st.SearchStrategy[DesignedFilter]:
    return st.recursive(
        st.builds(DesignedFilter, st.lists(conditions(aliases), max_size=3).map(tuple), st.booleans()),
        lambda inner: st.builds(
            DesignedFilter, st.lists(conditions(aliases) | inner, max_size=3).map(tuple), st.booleans()
        ),
        max_leaves=6,
    )


@st.composite
def columns(draw: st.DrawFn, *, aggregate: bool) -> DesignedColumn:
    if not aggregate:
        return DesignedColumn(draw(NAMES), draw(st.none() | NAMES))
    if draw(st.booleans()):
        function = draw(st.sampled_from(Aggregate))
        distinct = function is Aggregate.COUNT_COLUMN and draw(st.booleans())
        return DesignedColumn(draw(NAMES), draw(NAMES), function, distinct=distinct)
    grouping = draw(st.none() | st.sampled_from(DateGrouping))
    return DesignedColumn(
        draw(NAMES), draw(NAMES), group_by=True, date_grouping=grouping, user_time_zone=draw(st.booleans())
    )


@st.composite
def links(
    draw: st.DrawFn, aliases: list[str], all_aliases: tuple[str, ...], *, aggregate: bool
) -> DesignedLink:
    alias = aliases.pop()
    inside = draw(st.integers(0, min(2, len(aliases))))
    return DesignedLink(
        draw(NAMES),
        draw(NAMES),
        draw(NAMES),
        alias,
        draw(st.sampled_from([LinkType.INNER, LinkType.OUTER, LinkType.FIRST])),
        draw(_columns(aggregate=aggregate)),
        draw(st.none() | filters(tuple(name for name in all_aliases if name != alias))),
        tuple(draw(links(aliases, all_aliases, aggregate=aggregate)) for _ in range(inside) if aliases),
        not aggregate and draw(st.booleans()),
    )


@st.composite
def existence(draw: st.DrawFn, depth: int, aliases: list[str], *types: LinkType) -> DesignedLink:
    """A link that does not join, with others like it in its filter and beside that.

    `aliases` are those that no link of the query has yet, wherever it stands; each link takes one out.
    """
    alias = aliases.pop()
    filter = draw(st.none() | filters(()))
    if depth < 3 and aliases and draw(st.booleans()):
        nested = draw(existence(depth + 1, aliases, *IN_FILTERS))
        filter = DesignedFilter((*(filter.items if filter else ()), nested), draw(st.booleans()))
    beside = depth < 3 and aliases and draw(st.booleans())
    links = (draw(existence(depth + 1, aliases, *BESIDE_FILTERS)),) if beside else ()
    return DesignedLink(
        draw(NAMES), draw(NAMES), draw(NAMES), alias, draw(st.sampled_from(types)), (), filter, links
    )


def _columns(*, aggregate: bool, least: int = 0) -> st.SearchStrategy[tuple[DesignedColumn, ...]]:
    return st.lists(columns(aggregate=aggregate), min_size=least, max_size=3, unique=True).map(tuple)


@st.composite
def queries(draw: st.DrawFn) -> DesignedQuery:
    aggregate = draw(st.booleans())
    all_aliases = tuple(draw(st.lists(NAMES.map(lambda name: f"l_{name}"), unique=True, max_size=4)))
    aliases = list(all_aliases)
    joined = []
    while aliases:
        joined.append(draw(links(aliases, all_aliases, aggregate=aggregate)))
    by = (
        st.builds(Order, st.none(), NAMES, st.none(), st.booleans())
        if aggregate
        else st.builds(Order, NAMES, st.none(), st.sampled_from((None, *all_aliases)), st.booleans())
    )
    top = draw(st.none() | st.integers(1, 5000))
    count = draw(st.none() | st.integers(1, 5000)) if top is None else None
    filter = draw(st.none() | filters(all_aliases))
    left = [f"e_{number}" for number in range(MOST_LINKS - len(all_aliases))]
    if draw(st.booleans()):
        filter = DesignedFilter((*(filter.items if filter else ()), draw(existence(1, left, *IN_FILTERS))))
    if draw(st.booleans()) and left:
        joined.append(draw(existence(1, left, *BESIDE_FILTERS)))
    return DesignedQuery(
        draw(NAMES),
        draw(_columns(aggregate=aggregate, least=int(aggregate))),
        filter,
        tuple(joined),
        tuple(draw(st.lists(by, max_size=3))),
        draw(st.booleans()),
        top,
        not aggregate and draw(st.booleans()),
        count,
        draw(st.booleans()),
        1 if count is None else draw(st.integers(1, 99)),
        draw(st.none() | TEXTS.filter(bool)),
    )


@given(queries())
def test_a_query_written_is_read_as_the_same(query: DesignedQuery) -> None:
    text = write(query)
    assert parse(text) == query
    assert write(parse(text)) == text


@given(TEXTS | AWKWARD, st.sampled_from([Operator.EQ, Operator.LIKE, Operator.IN, Operator.BETWEEN]))
def test_a_value_never_changes_the_shape(text: str, operator: Operator) -> None:
    def filtered(value: str) -> DesignedQuery:
        values = (Literal(value),) * (values_taken(operator) or 1)
        return DesignedQuery("a", filter=DesignedFilter((DesignedCondition("b", operator, values),)))

    written = write(filtered(text))
    assert parse(written) == filtered(text)
    plain = etree.fromstring(write(filtered("plain")).encode())
    assert [element.tag for element in etree.fromstring(written.encode()).iter()] == [
        element.tag for element in plain.iter()
    ]


@given(
    st.text(min_size=1).filter(is_storable), st.sampled_from(["eq", "not-like", "contains"]), st.booleans()
)
def test_a_value_never_changes_the_shape_of_what_runs(text: str, operator: str, given_: bool) -> None:
    attributes = {"b": Attribute("b", AttributeType.STRING)}

    def shape(value: str) -> object:
        designed = Parameter("p") if given_ else Literal(value)
        rule = DesignedFilter((DesignedCondition("b", OPERATORS[operator], (designed,)),))
        prepared = prepare_filter(rule, "a", lambda _: attributes)
        now = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
        filter = prepared.resolve(Circumstances(now, {"p": value}))
        shape, values = shape_of(Query("a", filter=filter))
        assert values == [value]
        return shape

    assert shape(text) == shape("plain")


@pytest.mark.parametrize("character", ["\0", "\x1f", "\ud83d", "\ufffe"])
def test_a_character_that_xml_cannot_hold_is_refused(character: str) -> None:
    values = (Literal(f"a{character}b"),)
    query = DesignedQuery("a", filter=DesignedFilter((DesignedCondition("b", Operator.EQ, values),)))
    with pytest.raises(InvalidQuery, match="condition b eq: its value has characters"):
        write(query)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("@name", Parameter("name")),
        ("@user.teamId", UserValue("teamId")),
        ("@user.roles", UserValue("roles")),
        ("@user.claims.tier", ClaimValue("tier")),
        ("@user.claims.realm_access.level", ClaimValue("realm_access.level")),
        ("@user.claims.emails[0]", ClaimValue("emails[0]")),
        ("@user.claims.https://contoso.example/tier", ClaimValue("https://contoso.example/tier")),
        ("@user.claims.a.&quot;my.portal&quot;", ClaimValue('a."my.portal"')),
        ("@=@user.claims.tier", Literal("@user.claims.tier")),
        ("@=@name", Literal("@name")),
        ("@=", Literal("")),
        ("%@contoso.com", Literal("%@contoso.com")),
        ("@home!", Literal("@home!")),
        ("{8F0D1C5E-3A57-5D8E-9A41-6B2F7C90D3E4}", Literal("{8F0D1C5E-3A57-5D8E-9A41-6B2F7C90D3E4}")),
        ("a &amp; b", Literal("a & b")),
    ],
)
def test_values_and_placeholders(text: str, value: object) -> None:
    query = parse(
        '<entity name="a"><filter>'
        f'<condition attribute="b" operator="like" value="{text}"/></filter></entity>'
    )
    assert query.filter is not None
    [condition] = query.filter.items
    assert isinstance(condition, DesignedCondition)
    assert condition.values == (value,)


def test_a_value_split_by_comments_and_sections_is_one() -> None:
    query = parse(
        '<entity name="a"><filter><condition attribute="b" operator="in">'
        "<value>x<!-- y --><![CDATA[<z>]]></value></condition></filter></entity>"
    )
    assert query.filter == DesignedFilter((DesignedCondition("b", Operator.IN, (Literal("x<z>"),)),))


def test_what_a_grid_sends_beside_the_view() -> None:
    query = parse(
        '<fetch version="1.0" mapping="logical" no-lock="false" savedqueryid="x" count="50" page="1" '
        'returntotalrecordcount="true" latematerialize="true" xmlns:generator="MarkMpn.SQL4CDS">'
        '<entity name="account"/></fetch>'
    )
    assert query == DesignedQuery("account", page_size=50, total=True)


def test_one_filter_among_several_is_a_group_of_them() -> None:
    text = '<entity name="a"><filter type="or"/><filter/></entity>'
    both = DesignedFilter((DesignedFilter((), any=True), DesignedFilter(())))
    assert parse(text).filter == both
    assert parse(write(parse(text))) == parse(text)


def test_made_aliases_keep_clear_of_written_ones() -> None:
    query = parse(
        '<entity name="a"><link-entity name="b" from="x" to="y"/>'
        '<link-entity name="c" from="x" to="y" alias="b1"/></entity>'
    )
    assert [link.alias for link in query.links] == ["b1_", "b1"]


@pytest.mark.parametrize(
    "text",
    [
        '<filter><condition entityname="c" attribute="ownerid" operator="eq" valueof="account.ownerid"/>'
        "</filter>"
        '<link-entity name="contact" from="contactid" to="primarycontactid" alias="c"/>',
        '<link-entity name="contact" from="contactid" to="primarycontactid" alias="c"><filter>'
        '<condition entityname="account" attribute="ownerid" operator="eq" valueof="c.ownerid"/>'
        "</filter></link-entity>",
    ],
)
def test_an_attribute_compared_with_that_of_another_entity_keeps_its_own(text: str) -> None:
    query = parse(f'<fetch><entity name="account"><attribute name="name"/>{text}</entity></fetch>')
    assert parse(write(query)) == query
    plain = prepare(query, lambda _: OWNED).resolve(Circumstances(dt.datetime.now(dt.UTC)))
    assert parse(write_plain(plain)) == query


OWNED = {
    "ownerid": Attribute("ownerid", AttributeType.OWNER),
    "name": Attribute("name", AttributeType.STRING),
    "contactid": Attribute("contactid", AttributeType.UNIQUEIDENTIFIER),
    "primarycontactid": Attribute("primarycontactid", AttributeType.LOOKUP),
}
