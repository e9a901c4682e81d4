"""Whatever characters a value holds, it is a value: the query around it keeps its shape."""

from __future__ import annotations

import string

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from crmbox.platform import EmbeddedPlatform
from crmbox.webapi.errors import WebApiError
from crmbox.webapi.model import Model, current_model
from crmbox.webapi.odata.filters import Filters
from crmbox.webapi.odata.properties import Paths
from crmbox.webapi.odata.related import Related
from crmclient.platform import SERVICE_CALL
from crmclient.query.ast import Query
from crmclient.query.shape import shape_of

HOSTILE = some.text(some.sampled_from("'\"()[]{}/\\%_;,:=@$&<>- aonrdteqlu%20\x00\n\u2028ß漢"), max_size=40)
TEXTS = some.one_of(some.text(max_size=60), HOSTILE)
FORMS = ("name eq '{}'", "contains(name,'{}')", "startswith(name,'{}') or name ne '{}'", "not (name gt '{}')")

pytestmark = pytest.mark.usefixtures("portico")
many = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def model(portico: None) -> Model:
    return current_model()


def query(model: Model, filter: str, **aliases: str) -> Query:
    platform = EmbeddedPlatform()
    related = Related(model, platform, SERVICE_CALL)
    named = {f"@{name}": text for name, text in aliases.items()}
    paths = Paths(model, model.entity_type("account"))
    filters = Filters(related, platform, SERVICE_CALL, platform.who(), named)
    return Query("account", filter=filters.read(filter, paths), links=paths.links)


@many
@given(text=TEXTS, form=some.sampled_from(FORMS))
def test_a_text_never_changes_the_shape_of_a_query(model: Model, text: str, form: str) -> None:
    quoted = text.replace("'", "''")
    shape, values = shape_of(query(model, form.replace("{}", quoted)))
    plain, _ = shape_of(query(model, form.replace("{}", "x")))
    assert shape == plain
    assert all(text in str(value) for value in values)


@many
@given(text=TEXTS)
def test_an_alias_never_changes_the_shape_of_a_query(model: Model, text: str) -> None:
    quoted = "'" + text.replace("'", "''") + "'"
    shape, values = shape_of(query(model, "name eq @p1 and statecode eq 0", p1=quoted))
    plain, _ = shape_of(query(model, "name eq 'x' and statecode eq 0"))
    assert shape == plain
    assert values == [text, 0]


@many
@given(
    text=some.one_of(
        some.text(max_size=80),
        some.text(some.sampled_from(string.printable), max_size=80),
        some.lists(
            some.sampled_from(
                (
                    "name",
                    " eq ",
                    " and ",
                    " or ",
                    "not ",
                    "(",
                    ")",
                    "'",
                    "x",
                    "/",
                    "any",
                    "all",
                    ":",
                    ",",
                    "null",
                )
            ),
            max_size=25,
        ).map("".join),
    )
)
def test_any_text_is_a_filter_or_is_refused(model: Model, text: str) -> None:
    refused = None
    try:
        shape_of(query(model, text))
    except WebApiError as error:
        refused = error
    assert refused is None or (refused.status in (400, 501) and refused.message)
