"""Records that a document names by values that they have, since their ids differ between environments."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from crmbox.demo.people import FIRST_ACCOUNT
from crmclient.errors import Unavailable
from designer.documents.yaml_text import from_yaml
from designer.models import Binding, EnvironmentValue, RowRuleEntry, Version
from designer.overview import forget
from designer.platform import get_platform
from tests.designer.commands import refused, run
from tests.designer.proposing import member, newest, step
from tests.designer.test_environment_values import Change, written
from tests.runtime.associations import a_team

pytestmark = pytest.mark.django_db

ACCOUNT = {"entity": "account", "key": {"accountnumber": "A-00001"}}
TEAM = "Portal's <team>"
IN_FETCHXML = "{record:team(name='Portal''s &lt;team&gt;')}"


def created_lead(document: dict[str, Any]) -> dict[str, Any]:
    endpoint: dict[str, Any] = next(
        item for item in document["endpoints"] if item["kind"] == "create" and item["exposure"] == "leads"
    )
    return endpoint


def bound(record: Any) -> Change:
    """That a lead is created with the lookup to `record`."""

    def change(document: dict[str, Any]) -> None:
        created_lead(document)["bindings"].append(
            {"attribute": "parentaccountid", "source": "constant", "value": record}
        )

    return change


def ruled(name: str) -> Change:
    def change(document: dict[str, Any]) -> None:
        entity = next(item for item in document["entities"] if item["segment"] == "leads")
        condition = f'<condition attribute="ownerid" operator="eq" value="{name}"/>'
        entity["row_rule"] = [{"filter": f'<filter type="and">\n  {condition}\n</filter>\n'}]

    return change


def both(document: dict[str, Any]) -> None:
    bound(ACCOUNT)(document)
    ruled(IN_FETCHXML)(document)


def constant() -> Any:
    return Binding.objects.get(attribute="parentaccountid", endpoint__kind="create").value


def rule() -> str:
    return RowRuleEntry.objects.get(exposed__module__segment="sales", exposed__segment="leads").filter


def test_each_environment_has_its_own_record_and_exports_the_key(portico: None, tmp_path: Path) -> None:
    team = a_team(TEAM)
    named = written(tmp_path, both)
    assert "Imported." in run("importconfig", named)
    assert constant() == FIRST_ACCOUNT
    assert f'value="{team}"' in rule()

    exported = run("exportconfig")
    assert json.loads(exported) == json.loads(named.read_bytes())
    assert run("importconfig", named).endswith("Nothing to change.\n")

    # Another environment.
    get_platform().delete("team", team)
    other = a_team(TEAM)
    again = tmp_path / "again.json"
    again.write_text(exported)
    refused("importconfig", again, "--dry-run", "--exit-code", code=3)
    assert "Imported." in run("importconfig", again)
    assert f'value="{other}"' in rule()
    assert run("exportconfig") == exported


def test_folders_name_records_too(portico: None, tmp_path: Path) -> None:
    a_team(TEAM)
    run("importconfig", written(tmp_path, both))
    folder = tmp_path / "configuration"
    run("exportconfig", "--folder", folder)
    created = from_yaml((folder / "modules/sales/endpoints/leads.create.yaml").read_bytes())
    assert ACCOUNT in [each.get("value") for each in created["bindings"]]
    assert IN_FETCHXML in (folder / "modules/sales/entities/leads.yaml").read_text()
    assert run("importconfig", folder).endswith("Nothing to change.\n")


@pytest.mark.parametrize(
    ("record", "why"),
    [
        (
            {"entity": "account", "key": {"accountnumber": "none"}},
            r"has no record account\(accountnumber='none'",
        ),
        ({"entity": "account", "key": {"industrycode": 1}}, "has several records account"),
        ({"entity": "acount", "key": {"name": "A"}}, "the platform has no entity “acount”"),
        ({"entity": "account", "key": {"nam": "A"}}, "account has no attribute “nam”"),
        ({"entity": "account", "key": {"name": 1}}, "“name”: Must be a string"),
        ({"entity": "contact", "key": {"entityimage": "A"}}, "“entityimage” cannot be searched by a value"),
        ({"entity": "account", "key": {}}, "at least one attribute"),
        ({"entity": "account", "key": {"name": None}}, "a text, a number, true or false"),
        ({"entity": "account", "key": {"name": "A" * 400}}, "400 characters"),
    ],
)
def test_what_is_not_one_record_is_told_with_its_place_before_anything_is_changed(
    portico: None, tmp_path: Path, record: Any, why: str
) -> None:
    versions = Version.objects.count()
    file = written(tmp_path, bound(record))
    for option in ((), ("--dry-run",)):
        assert re.search(
            r"endpoints\[\d+\]\.bindings\[\d+\]\.value: .*" + why, refused("importconfig", file, *option)
        )
    assert Version.objects.count() == versions


@pytest.mark.parametrize("name", ["team", "team(number=007)", f"team(number={'1' * 5000})"])
def test_a_wrong_name_in_fetchxml_is_told(portico: None, tmp_path: Path, name: str) -> None:
    file = written(tmp_path, ruled(f"{{record:{name}}}"))
    told = refused("importconfig", file)
    assert re.search(rf"entities\[\d+\].*“{re.escape(name)}” does not name a record", told)


def test_a_platform_that_is_away_is_told(
    portico: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(tmp_path, bound(ACCOUNT))

    def away(*args: Any, **options: Any) -> Any:
        raise Unavailable("It does not answer.")

    monkeypatch.setattr(get_platform(), "query", away)
    assert "could not be asked for account(accountnumber='A-00001')" in refused("importconfig", file)


def test_a_document_is_judged_without_the_platform(portico: None, tmp_path: Path) -> None:
    a_team(TEAM)
    metadata, named = tmp_path / "metadata.json", written(tmp_path, both)
    # A process of its own has been asked for nothing yet.
    forget()
    run("exportmetadata", "--output", metadata)
    assert "--entity team" in refused("checkconfig", named, "--metadata", metadata)
    run("importconfig", named)
    # What imports have found by a key is among what the configuration reads.
    run("exportmetadata", "--output", metadata)
    run("checkconfig", named, "--metadata", metadata)
    wrong = written(tmp_path, bound({"entity": "account", "key": {"nam": "A"}}))
    assert "account has no attribute “nam”" in refused("checkconfig", wrong, "--metadata", metadata)


def test_json_that_looks_like_a_name_stays_what_it_is(portico: None, tmp_path: Path) -> None:
    bodies = [
        {"env": "PORTAL_TEAM_ID"},
        {"entity": "team", "key": {"name": "Portal"}},
        {"literal": {"env": "PORTAL_TEAM_ID"}},
        {"literal": 1},
    ]

    def change(document: dict[str, Any]) -> None:
        created_lead(document)["example_calls"] = [
            {"name": f"{at}", "body": {"literal": body} if at < 3 else body, "status": 400}
            for at, body in enumerate(bodies)
        ]

    run("importconfig", written(tmp_path, change), "--allow-failing-calls")
    exported = run("exportconfig")
    again = tmp_path / "again.json"
    again.write_text(exported)
    assert run("importconfig", again, "--allow-failing-calls").endswith("Nothing to change.\n")
    row = Binding.objects.filter(endpoint__kind="create", endpoint__entity__segment="leads").first()
    assert row is not None
    assert [call["body"] for call in row.endpoint.example_calls] == bodies
    assert not EnvironmentValue.objects.exists()


def test_a_proposal_keeps_the_names_of_what_it_was_opened_from(portico: None, tmp_path: Path) -> None:
    a_team(TEAM)
    run("openproposal", written(tmp_path, both))
    nora = member("nora", "Publisher")
    proposal = newest()
    file = reverse("studio:proposal_document", args=[proposal.pk])
    given = nora.get(file).content
    assert IN_FETCHXML in given.decode()
    sent = {
        "replace": "",
        "document": SimpleUploadedFile("proposal.json", given.replace(b"Leads", b"Prospects")),
    }
    nora.post(reverse("studio:proposal", args=[proposal.pk]), sent)
    step(nora, proposal, "publish")
    proposal.refresh_from_db()
    assert proposal.state == "published"
    assert IN_FETCHXML in run("exportconfig")
    assert json.loads(nora.get(file).content) != json.loads(given)
