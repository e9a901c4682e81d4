"""Two people on one page: both changes are kept, and only what both have changed is asked about."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from designer.definitions import EndpointDefinition
from designer.history.recording import Author
from designer.history.restoration import document_at, newest_version, restore
from designer.loading import latest
from designer.models import Binding, Endpoint, ExposedEntity, Input, Module, Role
from tests.designer import rows
from tests.designer.studio import add_row, change_url, errors, send
from tests.designer.two_people import answers, asked, held, opened, save

Data = dict[str, Any]
Edit = Callable[[Data], None]


@pytest.fixture
def accounts(portico: None) -> Endpoint:
    return Endpoint.objects.get(kind="create", entity__segment="accounts")


def _row(data: Data, prefix: str, name: str, field: str = "name") -> str:
    """The prefix of the fields of a row that is called one of `name`, words."""
    places = range(int(data[f"{prefix}-TOTAL_FORMS"]))
    matches = (at for at in places if data.get(f"{prefix}-{at}-{field}") in name.split())
    return f"{prefix}-{next(matches)}"


def _definition(row: Endpoint) -> EndpointDefinition:
    return latest().endpoints[row.pk].definition


@pytest.mark.parametrize("is_logged", [True, False])
def test_what_is_saved_over_a_deletion_is_shown_and_not_lost(
    dora: Client, accounts: Endpoint, is_logged: bool
) -> None:
    mine = opened(dora, accounts) | {"description": "Two hours of work", "inputs-0-pattern": "[A-Z]+"}
    url = change_url(accounts)
    if is_logged:
        dora.post(url.replace("/change/", "/delete/"), {"post": "yes"})
    else:
        accounts.delete()
    answer = dora.post(url, mine)
    text = answer.content.decode()
    assert answer.status_code == 410
    for kept in ("Two hours of work", "[A-Z]+", "inputs 1: pattern", "Nothing was saved"):
        assert kept in text
    assert ("designer deleted" in text) is is_logged
    assert "csrfmiddlewaretoken</th>" not in text
    assert not Endpoint.objects.filter(pk=accounts.pk).exists()


def test_what_only_one_of_two_has_changed_is_kept_from_each(dora: Client, accounts: Endpoint) -> None:
    mine, theirs = opened(dora, accounts), opened(dora, accounts)
    save(dora, accounts, theirs | {"title": "Theirs", f"{_row(theirs, 'inputs', 'phone')}-max_length": "20"})
    phone = _row(mine, "inputs", "phone")
    answer = dora.post(
        change_url(accounts), mine | {"description": "Mine", f"{phone}-description": "Office"}, follow=True
    )
    made = _definition(accounts)
    (given,) = [one for one in made.inputs if one.name == "phone"]
    assert (made.title, made.description, given.max_length, given.description) == (
        "Theirs",
        "Mine",
        20,
        "Office",
    )
    told = answer.content.decode()
    assert "Changed by designer at" in told
    assert "Taken over: Title; Input “phone” › Maximum length." in told


def test_a_field_that_both_have_changed_is_asked_about_and_nothing_typed_is_lost(
    dora: Client, accounts: Endpoint
) -> None:
    mine, theirs = opened(dora, accounts), opened(dora, accounts)
    save(dora, accounts, theirs | {"title": "Theirs", "description": "Said"})
    question = send(dora, change_url(accounts), mine | {"title": "Mine", "inputs-1-description": "Typed"})
    assert asked(question) == {"Title": ("Mine", "Theirs")}
    assert 'value="Mine"' in question.content.decode()
    assert _definition(accounts).title == "Theirs"
    unanswered = send(dora, change_url(accounts), held(question))
    assert asked(unanswered) == {"Title": ("Mine", "Theirs")}
    assert errors(unanswered) == ["Not saved. Answer each question above, then save again."]
    save(dora, accounts, held(unanswered) | answers(unanswered, Title="theirs"))
    made = _definition(accounts)
    assert (made.title, made.description, made.inputs[1].description) == ("Theirs", "Said", "Typed")


def test_who_may_call_is_asked_about_also_where_only_one_has_changed_it(
    dora: Client, accounts: Endpoint
) -> None:
    mine, theirs = opened(dora, accounts), opened(dora, accounts)
    save(dora, accounts, theirs | {"callers": [Role.objects.get(name="sales-manager").pk]})
    question = send(dora, change_url(accounts), mine | {"title": "Mine"})
    manager, representative = "Sales manager (sales-manager)", "Sales representative (sales-rep)"
    assert asked(question) == {"Roles": (f"{manager}, {representative}", manager)}
    save(dora, accounts, held(question) | answers(question, Roles="theirs"))
    made = _definition(accounts)
    assert (made.title, made.access.roles) == ("Mine", ("sales-manager",))


def test_a_pre_condition_of_theirs_is_not_added_silently(dora: Client, accounts: Endpoint) -> None:
    mine, theirs = opened(dora, accounts), opened(dora, accounts)
    add_row(theirs, "preconditions", expression="input.name != 'x'", status=422, message="No.")
    save(dora, accounts, theirs)
    question = send(dora, change_url(accounts), mine | {"title": "Mine"})
    ((label, (own, other)),) = asked(question).items()
    assert (label, own) == ("Pre-condition “input.name != 'x'”", "not there")
    assert "No." in other
    save(dora, accounts, held(question) | answers(question, rest="theirs"))
    assert [one.message for one in _definition(accounts).preconditions] == ["No."]
    assert _definition(accounts).title == "Mine"


def test_row_rules_are_never_merged_silently(dora: Client) -> None:
    exposed = ExposedEntity.objects.get(module__segment="sales", segment="accounts")
    mine, theirs = opened(dora, exposed), opened(dora, exposed)
    manager = Role.objects.get(name="sales-manager").pk
    add_row(theirs, "row_rule", callers=[manager], all_records="on")
    save(dora, exposed, theirs)
    question = send(dora, change_url(exposed), mine | {"title": "Mine"})
    ((label, (own, _other)),) = asked(question).items()
    assert (label, own) == ("Entry of the row rule “Sales manager (sales-manager)”", "not there")
    refused = send(dora, change_url(exposed), held(question) | answers(question, rest="mine"))
    assert "All callers would reach every record" in " ".join(errors(refused))
    save(dora, exposed, held(question) | answers(question, rest="theirs"))
    (made,) = [one for one in latest().entities if one.key == "sales.accounts"]
    assert made.title == "Mine"
    assert [(entry.roles, entry.all_records) for entry in made.row_rule] == [(("sales-manager",), True)]


def test_a_row_that_one_removes_and_the_other_changes_is_asked_about(
    dora: Client, accounts: Endpoint
) -> None:
    mine, theirs = opened(dora, accounts), opened(dora, accounts)
    save(
        dora,
        accounts,
        theirs
        | {
            f"{_row(theirs, 'inputs', 'phone')}-DELETE": "on",
            f"{_row(theirs, 'bindings', 'telephone1', 'attribute')}-DELETE": "on",
        },
    )
    changed = mine | {f"{_row(mine, 'inputs', 'phone')}-description": "Office"}
    question = send(dora, change_url(accounts), changed)
    assert asked(question) == {"Input “phone”": ("there, as below", "removed")}
    save(dora, accounts, held(question) | answers(question, rest="theirs"))
    assert "phone" not in {one.name for one in _definition(accounts).inputs}


def test_a_row_that_i_remove_and_the_other_changes_stays_where_theirs_is_chosen(
    dora: Client, accounts: Endpoint
) -> None:
    mine, theirs = opened(dora, accounts), opened(dora, accounts)
    save(dora, accounts, theirs | {f"{_row(theirs, 'inputs', 'phone')}-max_length": "20"})
    question = send(dora, change_url(accounts), mine | {f"{_row(mine, 'inputs', 'phone')}-DELETE": "on"})
    assert asked(question) == {"Input “phone”": ("removed", "Maximum length: 20")}
    save(dora, accounts, held(question) | answers(question, rest="theirs"))
    assert {one.name: one.max_length for one in _definition(accounts).inputs}["phone"] == 20


def test_rows_that_a_restore_has_written_anew_are_still_the_same(dora: Client, accounts: Endpoint) -> None:
    save(dora, accounts, opened(dora, accounts) | {"title": "Before"})
    before = newest_version()
    save(dora, accounts, opened(dora, accounts) | {"title": "After"})
    mine = opened(dora, accounts)
    restore(document_at(before), Author("ada", may_change_write_access=True))
    save(dora, accounts, mine | {f"{_row(mine, 'inputs', 'phone')}-description": "Office"})
    made = _definition(accounts)
    assert made.title == "Before"
    assert [one.description for one in made.inputs if one.name == "phone"] == ["Office"]


def test_what_is_merged_passes_readiness(dora: Client, accounts: Endpoint) -> None:
    """Each change alone could be served, both together could not."""
    mine, theirs = opened(dora, accounts), opened(dora, accounts)
    phone = _row(theirs, "bindings", "telephone1", "attribute")
    save(
        dora, accounts, theirs | {f"{phone}-DELETE": "on", f"{_row(theirs, 'inputs', 'phone')}-DELETE": "on"}
    )
    add_row(mine, "bindings", attribute="fax", source="input", value_text="phone")
    refused = send(dora, change_url(accounts), mine)
    assert any("phone" in message for message in errors(refused))
    assert "fax" in refused.content.decode()
    assert "fax" not in {one.attribute for one in _definition(accounts).bindings}


def test_what_is_merged_passes_the_gate_of_publishers(portico: None, accounts: Endpoint) -> None:
    """A designer may not bring back, out of an old page, callers that a publisher has taken away."""
    nora = User.objects.create_user("nora", is_staff=True)
    nora.groups.add(Group.objects.get(name="Designer"))
    client = Client()
    client.force_login(nora, backend="django.contrib.auth.backends.ModelBackend")
    mine = opened(client, accounts)
    publisher = Client()
    publisher.force_login(
        User.objects.get(username="designer"), backend="django.contrib.auth.backends.ModelBackend"
    )
    save(
        publisher,
        accounts,
        opened(publisher, accounts) | {"callers": [Role.objects.get(name="sales-manager").pk]},
    )
    question = send(client, change_url(accounts), mine | {"title": "Mine"})
    refused = send(client, change_url(accounts), held(question) | answers(question, rest="mine"))
    assert any("only a publisher may change who calls it" in message for message in errors(refused))
    assert _definition(accounts).access.roles == ("sales-manager",)


def test_without_what_the_page_was_opened_with_every_difference_is_asked_about(dora: Client) -> None:
    module = Module.objects.get(segment="sales")
    mine = opened(dora, module)
    Module.objects.filter(pk=module.pk).update(title="Shop")
    question = send(dora, change_url(module), mine | {"_opened": "", "description": "Typed"})
    assert set(asked(question)) == {"Title", "Description"}
    assert "Changed by Outside the studio" in question.content.decode()


def _set(field: str, value: str) -> Edit:
    return lambda data: data.update({field: value})


def _set_in(prefix: str, name: str, field: str, value: str, key: str = "name") -> Edit:
    return lambda data: data.update({f"{_row(data, prefix, name, key)}-{field}": value})


def _add(prefix: str, **values: Any) -> Edit:
    return lambda data: add_row(data, prefix, **values)


# Each is of something else than all others.
EDITS: dict[str, Edit] = {
    "title": _set("title", "A title"),
    "description": _set("description", "Two\r\nlines"),
    "limit": _set("settings__limits__caller_per_minute", "7"),
    "a length": _set_in("inputs", "phone", "max_length", "20"),
    "a description": _set_in("inputs", "phone", "description", "Office"),
    "a name": _set_in("inputs", "size extent", "name", "extent"),
    "required": _set_in("inputs", "size extent", "required", "on"),
    "a default": _set_in("inputs", "size extent", "default_text", "5"),
    "a removed input": _set_in("inputs", "old", "DELETE", "on"),
    "a new input": _add("inputs", name="new", type="String", nullable="on"),
    "another new input": _add("inputs", name="newer", type="Integer"),
    "a binding": _set_in("bindings", "telephone1", "value_text", "name", "attribute"),
    "a removed binding": _set_in("bindings", "fax", "DELETE", "on", "attribute"),
    "a new binding": _add("bindings", attribute="description", source="constant", value_text="X"),
    "a fetcher": _add("fetchers", name="first", query=""),
}
_numbers = count()


def _endpoint() -> Endpoint:
    made = rows.endpoint(f"things{next(_numbers)}", enabled=False)
    for at, name in enumerate(("phone", "size", "old"), 1):
        Input.objects.create(
            endpoint=made, name=name, position=at, type="Integer" if name == "size" else "String"
        )
    for at, name in enumerate(("telephone1", "fax"), 1):
        Binding.objects.create(endpoint=made, attribute=name, value="phone", position=at)
    return made


def _content(row: Endpoint) -> dict[str, Any]:
    """Of an endpoint, wherever it is. The order of what two people add is either's."""
    content = _definition(row).to_json()
    for name in ("inputs", "bindings"):
        content[name] = sorted(
            content.get(name, ()), key=lambda item: str(item.get("name", item.get("attribute")))
        )
    return {name: value for name, value in content.items() if name not in {"exposure", "segment"}}


@settings(
    max_examples=8,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.permutations(sorted(EDITS)), st.integers(1, 6), st.integers(1, 6))
def test_merging_is_both_changes_where_they_touch_different_fields(
    dora: Client, order: list[str], first: int, second: int
) -> None:
    mine, theirs = order[:first], order[first : first + second]
    apart, together = _endpoint(), _endpoint()
    for names in (theirs, mine):
        _edit(dora, apart, opened(dora, apart), names)
    both = opened(dora, together), opened(dora, together)
    _edit(dora, together, both[0], theirs)
    _edit(dora, together, both[1], mine)
    assert _content(together) == _content(apart)


def _edit(client: Client, row: Endpoint, data: Data, names: list[str]) -> None:
    for name in names:
        EDITS[name](data)
    save(client, row, data)
