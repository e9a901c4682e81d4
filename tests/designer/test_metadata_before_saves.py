"""A save asks the platform for metadata before it takes its turn: nobody who saves waits for that."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, TypeVar

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from crmbox.platform import EmbeddedPlatform
from crmclient import FetchesMetadata
from crmclient.stand_in import Effect, MemberCall, StandIn
from designer.models import CallerType, Endpoint, ExposedEntity, Module, UserProperty
from designer.overview import forget
from designer.platform import get_platform
from tests.designer import rows
from tests.designer.studio import add_row, add_url, change_url, errors, filled, page

R = TypeVar("R")
_ACCOUNTS = '<fetch><entity name="account"><attribute name="name"/></entity></fetch>'
_CONTACTS = '<fetch><entity name="contact"><attribute name="fullname"/></entity></fetch>'
# Nothing in the demo's configuration is about telephone calls.
_CALLED = (
    '<filter><link-entity name="phonecall" from="regardingobjectid" to="accountid" link-type="any"><filter>'
    '<condition attribute="subject" operator="not-null"/></filter></link-entity></filter>'
)


class FetchingPlatform(StandIn):
    """Notes of each piece of metadata whether it was first asked for within a transaction.

    `test_transactions` is the number of transactions around the test.
    """

    first_asked_inside: ClassVar[dict[str, bool]] = {}
    test_transactions: ClassVar[int] = 0

    def __init__(self) -> None:
        super().__init__(EmbeddedPlatform())

    def answer(self, member_call: MemberCall, ask: Callable[[], R]) -> R:
        if member_call.effect is Effect.METADATA:
            piece = f"{member_call.member} {member_call.arguments} {dict(member_call.options)}"
            self.first_asked_inside.setdefault(piece, self.transactions() > self.test_transactions)
        return ask()

    @staticmethod
    def transactions() -> int:
        """How many transactions the statement is in: all but the outermost have a savepoint."""
        return connection.in_atomic_block + len(connection.savepoint_ids)

    def fetch_metadata_ahead(self, entities: Iterable[str]) -> None:
        """Everything is asked for when it is needed."""

    def metadata_is_pending(self) -> bool:
        return False


@pytest.fixture
def fetching(settings: Any) -> Iterator[None]:
    settings.PORTICO = {**settings.PORTICO, "PLATFORM": f"{__name__}.FetchingPlatform"}
    get_platform.cache_clear()
    assert isinstance(get_platform(), FetchesMetadata)
    FetchingPlatform.test_transactions = 0
    yield
    get_platform.cache_clear()
    forget()


@pytest.fixture
def client(transactional_db: None, fetching: None) -> Client:
    return _of_root()


def _of_root() -> Client:
    client = Client()
    client.force_login(
        User.objects.create_superuser("root"), backend="django.contrib.auth.backends.ModelBackend"
    )
    return client


def _another_query() -> tuple[str, dict[str, Any]]:
    module = Module.objects.get_or_create(segment="shop")[0]
    row = Endpoint.objects.create(
        kind="multi-query", module=module, name="all", settings={"query": _ACCOUNTS}, enabled=False
    )
    return change_url(row), {"settings__query": _CONTACTS}


def _a_title() -> tuple[str, dict[str, Any]]:
    return change_url(rows.endpoint(enabled=False)), {"title": "Saved"}


def _a_new_endpoint() -> tuple[str, dict[str, Any]]:
    module = Module.objects.get_or_create(segment="shop")[0]
    exposed = ExposedEntity.objects.create(module=module, segment="people", entity="contact")
    return f"{add_url('endpoint')}?entity={exposed.pk}", {"kind": "read", "title": "Read"}


def _a_role() -> tuple[str, dict[str, Any]]:
    return change_url(rows.role()), {"title": "Saved"}


def _a_user_property() -> tuple[str, dict[str, Any]]:
    user = CallerType.objects.get(name="user")
    row = UserProperty.objects.create(name="fax", kind="field", attribute="address1_fax", caller_type=user)
    return change_url(row), {"description": "Saved"}


def _an_exposed_entity() -> tuple[str, dict[str, Any]]:
    rows.endpoint()
    return change_url(ExposedEntity.objects.get()), {"title": "Saved"}


@pytest.mark.parametrize(
    "made", [_another_query, _a_title, _a_new_endpoint, _a_role, _a_user_property, _an_exposed_entity]
)
def test_a_save_asks_for_metadata_before_it_takes_its_turn(
    client: Client, made: Callable[[], tuple[str, dict[str, Any]]]
) -> None:
    _save(client, *made())


def _a_row_rule_by_a_link() -> tuple[str, dict[str, Any]]:
    module = Module.objects.get(segment="sales")
    exposed = ExposedEntity.objects.create(module=module, segment="called", entity="account")
    read = Endpoint.objects.create(kind="read", entity=exposed)
    read.columns.create(attribute="name")
    entry: dict[str, Any] = {"row_rule-TOTAL_FORMS": 0}
    add_row(entry, "row_rule", filter=_CALLED)
    return change_url(exposed), entry


def _another_entity_of_callers() -> tuple[str, dict[str, Any]]:
    machine = CallerType.objects.create(name="machine", entity="account")
    UserProperty.objects.create(name="seen", kind="field", attribute="createdon", caller_type=machine)
    return change_url(machine), {"entity": "phonecall"}


def _a_property_of_related_data() -> tuple[str, dict[str, Any]]:
    machine = CallerType.objects.create(name="machine", entity="opportunity")
    row = UserProperty.objects.create(name="main", kind="field", attribute="name", caller_type=machine)
    typed: dict[str, Any] = {"kind": "related", "attribute": "", "columns-TOTAL_FORMS": 0}
    add_row(typed, "columns", attribute="subject")
    return change_url(row), {**typed, "relationship": "Opportunity_OpportunityClose"}


@pytest.mark.parametrize(
    "made", [_a_row_rule_by_a_link, _another_entity_of_callers, _a_property_of_related_data]
)
def test_a_save_that_names_another_entity_asks_for_it_before_it_takes_its_turn(
    portico: None, fetching: None, made: Callable[[], tuple[str, dict[str, Any]]]
) -> None:
    FetchingPlatform.test_transactions = FetchingPlatform.transactions()
    _save(_of_root(), *made())


def _save(client: Client, url: str, typed: dict[str, Any]) -> None:
    """Save the page with what is typed, and assert that no metadata were first asked for inside."""
    sent = filled(page(client, url)) | typed
    # As in a process that has just started.
    get_platform.cache_clear()
    forget()
    FetchingPlatform.first_asked_inside.clear()
    answer = client.post(url, sent)
    assert answer.status_code == 302, errors(answer)
    asked = FetchingPlatform.first_asked_inside
    assert asked
    assert [piece for piece, is_inside in asked.items() if is_inside] == []
