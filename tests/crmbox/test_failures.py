"""The database's own errors and statements stay inside; what the engine does can be watched."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from django.db import connection
from pytest_django import DjangoAssertNumQueries

from crmbox.engine.connection import read_unit
from crmbox.platform import EmbeddedPlatform
from crmclient.errors import PlatformFailure, Unavailable
from tests.crmbox.shop import add_category, add_product

NO_SUCH_TABLE = "SELECT secret_column FROM secret_table"


def test_a_refused_statement_tells_nothing_of_itself(apart: EmbeddedPlatform) -> None:
    with pytest.raises(PlatformFailure) as raised, read_unit("apart") as unit:
        unit.rows(NO_SUCH_TABLE)

    assert "secret" not in str(raised.value)
    assert "secret" in str(raised.value.__cause__)


def test_a_store_without_its_tables_says_what_to_do(joined: EmbeddedPlatform) -> None:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM crm_revision")

    with pytest.raises(Unavailable, match="migrate"):
        joined.metadata_revision()
    with pytest.raises(Unavailable, match="migrate"):
        joined.create("shop_product", {"name": "Lamp"})


def test_a_read_takes_two_statements(
    joined: EmbeddedPlatform, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    category = add_category(joined)
    id = add_product(joined, categoryid=category, buyerid=category)

    with django_assert_num_queries(2):
        joined.retrieve("shop_product", id, ["name", "categoryid", "buyerid", "ownerid", "createdby"])


def test_a_create_takes_three_statements_and_its_savepoint(
    joined: EmbeddedPlatform, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    category = add_category(joined)

    with django_assert_num_queries(5):
        add_product(joined, price=5, categoryid=category, buyerid=category)


def test_the_statements_can_be_logged(joined: EmbeddedPlatform, caplog: Any) -> None:
    add_product(joined)
    connection.force_debug_cursor = True
    try:
        with caplog.at_level(logging.DEBUG, logger="django.db.backends"):
            add_product(joined, notes="100% wool?")
    finally:
        connection.force_debug_cursor = False

    assert any("INSERT INTO" in message and "100% wool?" in message for message in caplog.messages)
