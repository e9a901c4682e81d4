"""Documents are judged before they count: what could not be served is refused whole, and said whole."""

from __future__ import annotations

import datetime as dt
import html
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crmclient.errors import Unavailable
from designer.documents import judgement
from designer.documents.document_writer import export, to_bytes
from designer.documents.judgement import Judgement
from designer.history.recording import Author, Origin
from designer.imports.document_import import import_document, preview
from designer.loading import load
from designer.models import Endpoint, EndpointCalls, Release, Version
from designer.overview import overview
from designer.platform import get_platform
from designer.readiness import Finding
from designer.revision import read_revision
from tests.callers import Caller
from tests.designer.test_studio_transfer import send_document

GONE = '<filter><condition attribute="gone" operator="null"/></filter>'
AUTHOR = Author(origin=Origin.COMMAND, may_change_write_access=True)


def now() -> bytes:
    return to_bytes(export(load()))


def changed(*changes: Callable[[dict[str, Any]], object]) -> bytes:
    """The demo's document with changes to its endpoints by key."""
    document = json.loads(now())
    by_key = {
        f"{item.get('module', '')}.{item.get('exposure', '')}.{item['kind']}": item
        for item in document["endpoints"]
    }
    for change in changes:
        change(by_key)
    return json.dumps(document).encode()


def unknown_attribute(endpoints: dict[str, Any]) -> None:
    endpoints["sales.accounts.create"]["bindings"].append(
        {"attribute": "gone", "source": "constant", "value": "x"}
    )


def unknown_column(endpoints: dict[str, Any]) -> None:
    endpoints["sales.accounts.read"]["columns"].append({"attribute": "gone"})


def unknown_role(endpoints: dict[str, Any]) -> None:
    endpoints["sales.accounts.read"].setdefault("access", {})["roles"] = ["nobody"]


def command(tmp_path: Path, raw: bytes, *options: str) -> tuple[int, str, str]:
    """Exit code, what was written, and what was said of a refusal."""
    file, out = tmp_path / "configuration.json", io.StringIO()
    file.write_bytes(raw)
    try:
        call_command("importconfig", str(file), *options, stdout=out)
    except CommandError as error:
        return error.returncode, out.getvalue(), str(error)
    return 0, out.getvalue(), ""


@pytest.mark.parametrize("options", [(), ("--dry-run",)])
def test_what_would_block_is_refused_with_everything_that_is_wrong(
    rita: Caller, tmp_path: Path, options: tuple[str, ...]
) -> None:
    before, revision, versions = now(), read_revision()[0], Version.objects.count()
    code, out, error = command(tmp_path, changed(unknown_attribute, unknown_column), *options)
    assert code == 1
    assert "Nothing was changed." in error
    assert "sales.accounts.create bindings.gone" in error
    assert "sales.accounts.read columns.gone" in error
    assert "~ endpoint sales.accounts.create" in out
    assert (now(), read_revision()[0], Version.objects.count()) == (before, revision, versions)
    assert rita.post("/api/sales/accounts", {"name": "Still served"}).status_code == 200


def test_what_cannot_be_written_is_said_beside_what_could_not_be_served(
    portico: None, tmp_path: Path
) -> None:
    code, _, error = command(tmp_path, changed(unknown_attribute, unknown_role), "--allow-broken")
    assert code == 1
    assert "There is no role “nobody”" in error
    assert "sales.accounts.create bindings.gone" in error


def test_broken_endpoints_are_imported_on_demand_and_said(rita: Caller, tmp_path: Path) -> None:
    raw = changed(unknown_attribute)
    code, out, _ = command(tmp_path, raw, "--allow-broken", "--dry-run")
    assert (code, rita.post("/api/sales/accounts", {"name": "A"}).status_code) == (0, 200)
    code, out, _ = command(tmp_path, raw, "--allow-broken")
    assert (code, "Imported." in out, "sales.accounts.create bindings.gone" in out) == (0, True, True)
    assert rita.post("/api/sales/accounts", {"name": "A"}).status_code == 503
    # What is broken already does not stand in the way of mending something else.
    code, out, _ = command(tmp_path, raw)
    assert (code, "blocked before:" in out, "Nothing to change." in out) == (0, True, True)
    mended = changed(lambda endpoints: endpoints["sales.accounts.read"].update(title="Another"))
    assert command(tmp_path, mended)[0] == 0


@pytest.mark.parametrize("process", ["GrantAccess", "BulkDelete", "CreateEntity"])
def test_a_process_that_no_endpoint_may_run_is_not_even_imported_as_broken(
    portico: None, tmp_path: Path, process: str
) -> None:
    before = now()
    forbidden = changed(
        lambda endpoints: endpoints["sales..global-action"]["settings"].update(process=process)
    )

    code, _, error = command(tmp_path, forbidden, "--allow-broken")

    assert code == 1
    assert f"“{process}” changes rights, metadata or any number of records." in error
    assert now() == before


@pytest.mark.parametrize("options", [(), ("--dry-run",), ("--allow-broken",)])
def test_a_report_for_machines_says_the_same(portico: None, tmp_path: Path, options: tuple[str, ...]) -> None:
    code, out, _ = command(tmp_path, changed(unknown_attribute), "--json", *options)
    report = json.loads(out)
    assert report["result"] == ("imported" if "--allow-broken" in options else "refused")
    assert (code, report["blocking"], report["problems"]) == (int(report["result"] == "refused"), 1, [])
    (change,) = report["changes"]
    assert {key: change[key] for key in ("change", "list", "key")} == {
        "change": "change",
        "list": "endpoints",
        "key": "sales.accounts.create",
    }
    (finding,) = [finding for finding in report["findings"] if finding["severity"] == "blocking"]
    assert (finding["subject"], finding["field"]) == ("sales.accounts.create", "bindings.gone.attribute")


def test_the_report_of_what_is_no_document_has_its_problems(portico: None, tmp_path: Path) -> None:
    code, out, _ = command(tmp_path, b'{"format": 1, "odd": []}', "--json")
    assert (code, json.loads(out)["result"]) == (1, "refused")
    unread = json.loads(out)
    assert "odd" in unread["problems"][0]
    code, out, _ = command(tmp_path, now(), "--json", "--dry-run")
    assert unread.keys() == json.loads(out).keys()
    assert (code, json.loads(out)["result"], json.loads(out)["changes"]) == (0, "unchanged", [])


def test_a_dry_run_stops_no_writer(dora: Client, tmp_path: Path) -> None:
    """It only reads: no statement of it takes a lock that a writer waits for."""
    raw = changed(unknown_attribute, lambda endpoints: endpoints["sales.accounts.read"].update(title="New"))
    runs: list[Callable[[], object]] = [
        lambda: command(tmp_path, raw, "--dry-run"),
        lambda: send_document(dora, raw),
    ]
    for run in runs:
        with CaptureQueriesContext(connection) as captured:
            run()
        statements = [query["sql"].split()[0].upper() for query in captured.captured_queries]
        assert statements
        assert set(statements) <= {"SELECT"}, statements


def test_the_studio_refuses_the_same_and_writes_nothing(dora: Client) -> None:
    before = now()
    trial = send_document(dora, changed(unknown_attribute, unknown_column)).context["trial"]
    assert len(trial.refusals) == 2
    answer = send_document(dora, changed(unknown_attribute, unknown_column), digest=trial.digest)
    assert answer.status_code == 422
    assert answer.content.decode().count("could no longer be served") == 2
    assert now() == before


def test_the_studio_refuses_a_new_endpoint_that_could_not_be_served(dora: Client) -> None:
    document = json.loads(now())
    read = next(item for item in document["endpoints"] if item["kind"] == "read")
    document["endpoints"].append({**read, "segment": "others", "columns": [{"attribute": "gone"}]})
    raw, before = json.dumps(document).encode(), now()
    trial = send_document(dora, raw).context["trial"]
    answer = send_document(dora, raw, digest=trial.digest)
    assert (answer.status_code, "could not be served" in answer.content.decode()) == (422, True)
    assert now() == before


def test_no_way_back_brings_in_what_cannot_be_served(dora: Client) -> None:
    served = now()
    Endpoint.objects.filter(kind="read", entity__segment="accounts").delete()
    import_document(served, (), AUTHOR)
    broken = changed(unknown_column)
    release = Release.objects.create(major=1, minor=0, document=broken.decode())
    import_document(broken, (), AUTHOR, allow_broken=True)
    version = Version.objects.latest("id")
    import_document(served, (), AUTHOR)
    change = version.changes.get()
    ways = [
        (reverse("studio:restore_release", args=[release.pk]), {}),
        (reverse("studio:restore_version", args=[version.pk]), {}),
        (reverse("studio:restore_version", args=[version.pk]), {"change": change.pk, "to": "after"}),
    ]
    for place, data in ways:
        answer = dora.post(place, data, follow=True)
        assert "could no longer be served" in answer.content.decode()
        assert now() == served


_KINDS = st.lists(
    st.sampled_from(
        [
            unknown_attribute,
            unknown_column,
            lambda endpoints: endpoints["sales.accounts.create"].update(bindings=[]),
            lambda endpoints: endpoints["sales.accounts.read"].update(segment="contacts"),
            lambda endpoints: endpoints["sales.accounts.update"].update(enabled=False),
            lambda endpoints: endpoints["sales.leads.create"].update(segment="accounts"),
            lambda endpoints: endpoints["sales.leads.create"]["inputs"].append({"name": "n", "type": "Odd"}),
            lambda endpoints: endpoints["sales.accounts.read"].update(row_rule=GONE),
        ]
    ),
    unique=True,
    max_size=4,
)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=_KINDS)
def test_what_is_foreseen_is_what_comes(
    portico: None, changes: list[Callable[[dict[str, Any]], object]]
) -> None:
    served, raw = now(), changed(*changes)
    before = set(overview().findings)
    foreseen = preview(raw)
    import_document(raw, (), AUTHOR, allow_broken=True)
    came: set[Finding] = {finding for finding in overview().findings if finding not in before}
    assert set(foreseen.findings) == came
    import_document(served, ["sales", "service"], AUTHOR, allow_broken=True)
    assert now() == served


def test_a_document_judged_for_another_state_is_judged_anew(
    portico: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody changes the configuration between the judgement and the import."""
    raw = changed(lambda endpoints: endpoints["sales.accounts.read"].update(title="New"))
    judged: list[Judgement] = []

    def judge(make_plan: Any, **options: Any) -> Judgement:
        judged.append(judgement.judge(make_plan, **options))
        if len(judged) == 1:
            Endpoint.objects.filter(kind="read", entity__segment="accounts").update(title="By another")
        return judged[-1]

    monkeypatch.setattr("designer.history.restoration.judge", judge)
    import_document(raw, (), AUTHOR)
    assert Endpoint.objects.get(kind="read", entity__segment="accounts").title == "New"
    assert ['"By another" → "New"' in "".join(one.plan.lines()) for one in judged] == [False, True]


def test_the_report_says_what_breaks_and_how_often_it_is_called(
    portico: None, dora: Client, tmp_path: Path
) -> None:
    now_ = timezone.now()
    calls = EndpointCalls.objects
    calls.all().delete()
    for days, count in ((1, 3), (34, 40), (36, 500)):
        at = now_ - dt.timedelta(days=days)
        calls.create(endpoint="sales.accounts.read", hour=at, calls=count, last_at=at)

    def changes(endpoints: dict[str, Any]) -> None:
        endpoints["sales.accounts.read"]["columns"].pop()
        endpoints["sales.accounts.update"]["title"] = "Another title"
        endpoints["sales.accounts.delete"]["enabled"] = False

    raw = changed(changes)
    code, out, _ = command(tmp_path, raw, "--dry-run", "--json")
    report = json.loads(out)
    assert (code, report["effect"]) == (0, "breaking")
    by_what = {one["what"]: one["effect"] for one in report["effects"]}
    assert by_what == {
        "endpoint sales.accounts.read": "breaking",
        "endpoint sales.accounts.delete": "breaking",
        "endpoint sales.accounts.update": "additive",
    }
    # What is additive affects nobody.
    assert [(one["endpoint"], one["calls"]) for one in report["affected"]] == [
        ("sales.accounts.read", 43),
        ("sales.accounts.delete", 0),
    ]
    shown = send_document(dora, raw).content.decode()
    assert "sales.accounts.read" in shown
    assert re.search('<td class="number"[^>]*>43</td>', shown)
    _, out, _ = command(tmp_path, raw)
    assert "Breaking:\n" in out
    assert "Additive: 1\n" in out
    assert "  sales.accounts.read: 43 calls, the last on " in out


def test_a_row_rule_affects_whatever_reaches_the_entity(portico: None, tmp_path: Path) -> None:
    document = json.loads(now())
    (entity,) = [item for item in document["entities"] if item["segment"] == "accounts"]
    entity["row_rule"] = [{"all_records": True}]
    _, out, _ = command(tmp_path, json.dumps(document).encode(), "--dry-run", "--json")
    report = json.loads(out)
    assert report["effect"] == "behaviour"
    affected = {one["endpoint"] for one in report["affected"]}
    assert {"sales.accounts.read", "sales.accounts.update"} <= affected
    assert not [key for key in affected if not key.startswith("sales.")]


def test_a_user_property_affects_what_a_binding_or_a_custom_property_takes_from_it(
    portico: None, tmp_path: Path
) -> None:
    document = json.loads(now())
    document["user_properties"] += [
        {"name": "used", "attribute": "fullname"},
        {"name": "greeting", "kind": "custom", "expression": "'Dear ' + user.used"},
    ]
    by_key = {one.key: at for at, one in enumerate(export(load()).endpoints)}
    for kind, name in (("create", "used"), ("update", "greeting")):
        bindings = document["endpoints"][by_key[f"sales.accounts.{kind}"]]["bindings"]
        bindings.append({"attribute": "description", "source": "user", "value": name})
    assert command(tmp_path, json.dumps(document).encode())[0] == 0
    document["user_properties"][-2]["attribute"] = "internalemailaddress"
    _, out, _ = command(tmp_path, json.dumps(document).encode(), "--dry-run", "--json")
    affected = {one["endpoint"] for one in json.loads(out)["affected"]}
    assert affected == {"sales.accounts.create", "sales.accounts.update"}


def test_a_row_rule_that_a_query_of_the_module_applies_is_judged(portico: None, tmp_path: Path) -> None:
    data = json.loads(now())
    (articles,) = (one for one in data["entities"] if one["segment"] == "articles")
    articles["row_rule"] = [{"filter": '<filter><condition attribute="nothing" operator="null"/></filter>'}]
    code, _out, said = command(tmp_path, json.dumps(data).encode())
    assert code == 1
    assert "portal.multi-query.articles settings.query: The row rule of portal.articles: " in said
    assert "has no attribute 'nothing'" in said


def ten_mistakes() -> bytes:
    """A document that is wrong in ten ways, of which some are found before others can be looked for."""
    data = json.loads(to_bytes(export(load())))
    endpoints = {one.key: data["endpoints"][at] for at, one in enumerate(export(load()).endpoints)}
    endpoints["sales.global-action.ping"]["inputs"][0]["requird"] = True
    endpoints["service.cases.update"]["inputs"][0]["type"] = "Strng"
    data["endpoints"].append(endpoints["service.cases.read"])
    endpoints["sales.accounts.update"]["inputs"].append(endpoints["sales.accounts.update"]["inputs"][0])
    endpoints["sales.leads.create"]["bindings"][0] = {
        "attribute": "subject", "source": "constant", "value": {"env": "GREETING"},
    }  # fmt: skip
    endpoints["portal.cases.create"]["bindings"][-1]["value"]["id"] = {
        "entity": "team", "key": {"name": "No such team"},
    }  # fmt: skip
    endpoints["sales.accounts.create"]["bindings"].append({"attribute": "telephon1", "value": "phone"})
    endpoints["sales.accounts.read"]["access"]["roles"].append("nobody")
    pipeline = endpoints["sales.multi-query.pipeline"]["settings"]
    pipeline["query"] = pipeline["query"].replace("@closingUntil", "@closingTill")
    endpoints["portal.cases.upload.attachments"]["preconditions"][0]["expression"] = "record.statecode = 0"
    return json.dumps(data).encode()


NAMED = [
    "inputs[0].requird (sales.global-action.ping): is not known; remove it, or correct its name",
    "service.cases.update inputs.title.type: Input “title” has the type “Strng”, which does not exist.",
    "the endpoint service.cases.read is already at endpoints[",
    "(sales.accounts.update): “name” is listed more than once. Rename or remove one",
    "GREETING has no value here. Set PORTICO_VALUE_GREETING",
    "The platform has no record team(name='No such team'). Create it there, or correct the key.",
    "sales.accounts.create bindings.telephon1.attribute: account has no “telephon1” to set.",
    "There is no role “nobody”, here or in the document.",
    "The query uses @closingTill",
    "portal.cases.upload.attachments preconditions",
]


@pytest.mark.parametrize("options", [(), ("--dry-run",), ("--json",)])
def test_ten_kinds_of_mistakes_are_named_at_once(
    portico: None, tmp_path: Path, options: tuple[str, ...]
) -> None:
    before, revision, versions = now(), read_revision()[0], Version.objects.count()
    code, out, error = command(tmp_path, ten_mistakes(), *options)
    told = "\n".join(json.loads(out)["problems"]) if "--json" in options else error
    assert (code, [named for named in NAMED if named not in told]) == (1, [])
    assert (now(), read_revision()[0], Version.objects.count()) == (before, revision, versions)


def test_the_studio_names_them_at_once_too(dora: Client) -> None:
    before = now()
    for document, names in ((ten_mistakes(), NAMED), (twelve_more_mistakes(), ALSO_NAMED)):
        answer = dora.post("/admin/import/", {"document": SimpleUploadedFile("c.json", document)})
        told = html.unescape(answer.content.decode())
        assert [named for named in names if named not in told] == []
    assert now() == before


def test_so_does_a_pipeline_without_a_platform(portico: None, tmp_path: Path) -> None:
    metadata, file = tmp_path / "metadata.json", tmp_path / "configuration.json"
    call_command("exportmetadata", "--output", str(metadata), "--entity", "team")
    for document, names in ((ten_mistakes(), NAMED), (twelve_more_mistakes(), ALSO_NAMED)):
        file.write_bytes(document)
        out = io.StringIO()
        with pytest.raises(CommandError, match="cannot be imported"):
            call_command("checkconfig", str(file), "--metadata", str(metadata), stdout=out)
        # Which records there are, no metadata says.
        assert [named for named in names if named not in out.getvalue() and "No such team" not in named] == []


def twelve_more_mistakes() -> bytes:
    """A document that is wrong in twelve other ways, several in one endpoint, or in what others need."""
    data = json.loads(now())
    endpoints = {one.key: data["endpoints"][at] for at, one in enumerate(export(load()).endpoints)}
    data["oddmember"] = 1
    data["roles"][0]["colour"] = "red"
    data["modules"][0]["description"] = 5
    create = endpoints["sales.accounts.create"]
    create["access"]["roles"].append("nobody")
    create["inputs"][0]["type"] = "Strng"
    create["bindings"].append({"attribute": "telephon1", "value": "phone"})
    read_one = endpoints["sales.accounts.read"]
    read_one["settings"] = {"limts": {}}
    read_one["columns"].append({"attribute": "nam", "naem": "other"})
    update = endpoints["sales.accounts.update"]
    update["title"] = "Update\0"
    update["bindings"][0]["source"] = "fetsch"
    update["preconditions"] = [{"expression": "record.statecode =", "message": "No"}]
    return json.dumps(data).encode()


ALSO_NAMED = [
    "oddmember: is not known; remove it, or correct its name",
    "roles[0].colour (customer): is not known; remove it, or correct its name",
    "modules[0].description (portal): must be a text",
    "access.roles: There is no role “nobody”, here or in the document.",
    "sales.accounts.create inputs.name.type: Input “name” has the type “Strng”, which does not exist.",
    "sales.accounts.create bindings.telephon1.attribute: account has no “telephon1” to set.",
    "settings.limts (sales.accounts.read): is not known. Did you mean “limits”?",
    ".naem (sales.accounts.read): is not known. Did you mean “name”?",
    "sales.accounts.read columns.other: account has no “nam” to answer with.",
    "title: contains a NUL character. Remove it",
    ".bindings[0].source (sales.accounts.update): must be 'input', 'constant', ",
    "sales.accounts.update preconditions",
]


@pytest.mark.parametrize("options", [(), ("--dry-run",), ("--json",)])
def test_mistakes_of_one_endpoint_and_of_what_others_need_are_named_at_once(
    portico: None, tmp_path: Path, options: tuple[str, ...]
) -> None:
    before = now()
    code, out, error = command(tmp_path, twelve_more_mistakes(), *options)
    problems = json.loads(out)["problems"] if "--json" in options else error.splitlines()[1:]
    told = "\n".join(problems)
    assert (code, [named for named in ALSO_NAMED if named not in told]) == (1, [])
    # Nothing is told that only follows from what could not be read.
    assert len(problems) == len(ALSO_NAMED), told
    assert now() == before


@pytest.mark.parametrize("options", [(), ("--dry-run",), ("--allow-broken",)])
def test_an_endpoint_that_repeats_names_is_refused_and_judged_further(
    portico: None, tmp_path: Path, options: tuple[str, ...]
) -> None:
    data = json.loads(now())
    endpoints = {one.key: data["endpoints"][at] for at, one in enumerate(export(load()).endpoints)}
    create = endpoints["sales.accounts.create"]
    create["access"]["roles"].append("nobody")
    create["inputs"].append({**create["inputs"][0], "type": "Integer"})
    create["bindings"].append({"attribute": "telephon1", "value": "phone"})
    (at,) = (at for at, one in enumerate(create["inputs"]) if one["name"] == "contacts")
    contacts = create["inputs"][at]["inputs"]
    contacts.append(contacts[0])
    fetcher = {
        "name": "owner",
        "query": '<fetch><entity name="team"><attribute name="name"/></entity></fetch>',
    }
    create["fetchers"] = [fetcher, {**fetcher, "first": True}]
    before = now()

    code, out, _ = command(tmp_path, json.dumps(data).encode(), "--json", *options)

    place = f"endpoints[{data['endpoints'].index(create)}]"
    problems = json.loads(out)["problems"]
    assert [problem.partition(" is listed more than once")[0] for problem in problems[:3]] == [
        f"{place}.inputs (sales.accounts.create): “name”",
        f"{place}.fetchers (sales.accounts.create): “owner”",
        f"{place}.inputs[{at}].inputs (sales.accounts.create): “{contacts[0]['name']}”",
    ]
    assert [problem.partition(": ")[0] for problem in problems[3:]] == [
        "endpoint sales.accounts.create",
        "sales.accounts.create bindings.telephon1.attribute",
    ]
    assert (code, now() == before) == (1, True)


def test_an_example_call_that_would_fail_is_named_with_the_mistakes_elsewhere(
    portico: None, tmp_path: Path
) -> None:
    data = json.loads(now())
    for endpoint in data["endpoints"]:
        match endpoint:
            case {"module": "sales", "exposure": "accounts", "kind": "create"}:
                endpoint["access"]["roles"].append("nobody")
            case {"module": "sales", "exposure": "accounts", "kind": "update"}:
                endpoint["oddmember"] = 1
            case {"kind": "global-action", "name": "ping"}:
                endpoint["example_calls"] = [{"name": "Fails", "roles": ["sales"], "status": 418}]
    code, _, said = command(tmp_path, json.dumps(data).encode())
    assert code == 1
    assert "There is no role “nobody”" in said
    assert ".oddmember (sales.accounts.update): is not known; remove it, or correct its name" in said
    assert "The example call “Fails” of sales.global-action.ping would fail: " in said


def test_what_an_unreadable_entity_exposes_is_not_called_wrong(portico: None, tmp_path: Path) -> None:
    data = json.loads(now())
    (accounts,) = (one for one in data["entities"] if one["segment"] == "accounts")
    del accounts["entity"]
    data["issuers"] = [{"name": "other", "issuer": "https://id.example", "audiences": 5, "leewy": 1}]
    code, out, _ = command(tmp_path, json.dumps(data).encode(), "--json")
    at = data["entities"].index(accounts)
    assert (code, json.loads(out)["problems"]) == (
        1,
        [
            "issuers[0].audiences (other): must be a list",
            "issuers[0].leewy (other): is not known. Did you mean “leeway”?",
            f"entities[{at}].entity (sales.accounts): is missing; write it",
        ],
    )


def test_a_value_that_is_missing_in_fetchxml_is_one_problem(portico: None, tmp_path: Path) -> None:
    data = json.loads(now())
    (leads,) = [entity for entity in data["entities"] if entity["segment"] == "leads"]
    rule = '<filter><condition attribute="ownerid" operator="eq" value="{env:TEAM}"/></filter>'
    leads["row_rule"] = [{"filter": rule}]
    code, out, _ = command(tmp_path, json.dumps(data).encode(), "--json")
    (problem,) = json.loads(out)["problems"]
    assert (code, problem.startswith("TEAM has no value here.")) == (1, True)


def half_read() -> bytes:
    """A document whose queries and filters have what is not supported, and names that the metadata lack."""
    data = json.loads(now())
    endpoints = {one.key: data["endpoints"][at] for at, one in enumerate(export(load()).endpoints)}
    rule = '<filter><oops/><condition attribute="{}" operator="null"/></filter>'
    endpoints["sales.multi-query.pipeline"]["settings"]["query"] = (
        '<fetch useraworderby="true"><entity name="account"><attribute name="colour"/>'
        '<attribute name="name"/><filter><condition attribute="size" operator="null"/></filter>'
        "</entity></fetch>"
    )
    fetched = '<fetch utc-offset="1"><entity name="acount"><attribute name="name"/></entity></fetch>'
    endpoints["sales.single-query.account"]["fetchers"] = [{"name": "first", "query": fetched}]
    endpoints["service.cases.read"]["row_rule"] = rule.format("tint")
    endpoints["service.paginated-query.cases"]["row_rule"] = rule.format("taint")
    draft = endpoints["portal.multi-query.articles"]
    draft["enabled"] = False
    draft["settings"]["query"] = draft["settings"]["query"].replace("<attribute ", "<oops/><attribute ", 1)
    draft["settings"]["query"] = draft["settings"]["query"].replace("title", "nothing")
    (cases,) = [one for one in data["entities"] if (one["module"], one["segment"]) == ("portal", "cases")]
    cases["row_rule"] = [{"filter": rule.format("shade")}]
    return json.dumps(data).encode()


HALF_READ = [
    "(portal.cases): line 1: filter: the element oops is not known here",
    "(sales.multi-query.pipeline): line 1: fetch: useraworderby is not supported",
    "(sales.single-query.account): line 1: fetch: the attribute utc-offset is not supported",
    "(service.cases.read): line 1: filter: the element oops is not known here",
    "(service.paginated-query.cases): line 1: filter: the element oops is not known here",
    "entity knowledgearticle: the element oops is not known here",
    "row_rule[0].filter (portal.cases): condition shade null: the entity 'incident' has no attribute 'shade'",
    "settings.query (sales.multi-query.pipeline): attribute colour: the entity 'account' has no attribute",
    "settings.query (sales.multi-query.pipeline): condition size null: the entity 'account' has no attribute",
    "fetchers[0].query (sales.single-query.account): entity acount: there is no entity 'acount'",
    "row_rule (service.cases.read): condition tint null: the entity 'incident' has no attribute 'tint'",
    "row_rule (service.paginated-query.cases): condition taint null: the entity 'incident' has no attribute",
]


@pytest.mark.parametrize("options", [(), ("--dry-run",)])
def test_unknown_names_are_told_beside_what_fetchxml_cannot_be_read(
    portico: None, tmp_path: Path, options: tuple[str, ...]
) -> None:
    code, out, _ = command(tmp_path, half_read(), "--json", *options)
    problems = json.loads(out)["problems"]
    told = "\n".join(problems)
    assert (code, [named for named in HALF_READ if named not in told]) == (1, [])
    # A draft may name anything, and nothing else follows.
    assert len(problems) == len(HALF_READ), told


def test_the_studio_and_a_pipeline_tell_unknown_names_in_fetchxml_too(dora: Client, tmp_path: Path) -> None:
    answer = dora.post("/admin/import/", {"document": SimpleUploadedFile("c.json", half_read())})
    told = html.unescape(answer.content.decode())
    assert [named for named in HALF_READ if named not in told] == []
    metadata, file, out = tmp_path / "metadata.json", tmp_path / "configuration.json", io.StringIO()
    call_command("exportmetadata", "--output", str(metadata))
    file.write_bytes(half_read())
    with pytest.raises(CommandError, match="cannot be imported"):
        call_command("checkconfig", str(file), "--metadata", str(metadata), stdout=out)
    assert [named for named in HALF_READ if named not in out.getvalue()] == []


def test_an_unreadable_query_is_refused_while_the_platform_gives_no_metadata(
    portico: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(platform: object, entity: str) -> object:
        raise Unavailable("The platform is away.")

    document = half_read()
    monkeypatch.setattr(type(get_platform()), "attributes", away)
    code, out, _ = command(tmp_path, document, "--json", "--dry-run")
    told = "\n".join(json.loads(out)["problems"])
    assert (code, "useraworderby is not supported" in told, "has no attribute" in told) == (1, True, False)
