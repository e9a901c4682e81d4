"""The document that developers read: whole, exact, and of what its reader may call."""

from __future__ import annotations

import gzip
from typing import Any

import pytest
import yaml

from designer.kinds import KINDS
from designer.models import Binding, Endpoint, Input, Module, Role
from runtime.describe.openapi_document import as_yaml
from runtime.describe.own_routes import PAGES
from runtime.operations import OPERATIONS
from tests.callers import Caller
from tests.row_rules import only_rule

# What every reader is shown, and what those with a token are.
TOKENS = {("/api/token", "post"), ("/api/token/refresh", "post"), ("/api/token/revoke", "post")}
OPEN = {*TOKENS, *((page.path, "get") for page in PAGES)}
SIGNED_IN = {*OPEN, ("/api/context", "get")}

PEOPLE = ["anonymous", "rita", "max", "aya"]
ROLES = {"anonymous": set(), "rita": {"sales-rep"}, "max": {"sales-manager"}, "aya": {"support"}}


@pytest.fixture
def reader(request: pytest.FixtureRequest) -> Caller:
    caller: Caller = request.getfixturevalue(request.param)
    return caller


def document(caller: Caller, query: str = "") -> Any:
    answer = caller.get(f"/api/openapi.json{query}")
    assert answer.status_code == 200, answer.content
    return answer.json()


def described(caller: Caller, query: str = "") -> set[tuple[str, str]]:
    paths = document(caller, query)["paths"]
    return {(path, method) for path, operations in paths.items() for method in operations}


def may_call(endpoint: Endpoint, person: str) -> bool:
    if not endpoint.authentication_required:
        return True
    if person == "anonymous" or "user" not in endpoint.caller_types:
        return False
    wanted = set(endpoint.roles.values_list("name", flat=True))
    return not wanted or bool(wanted & ROLES[person])


def test_every_kind_has_an_operation_and_every_operation_a_kind() -> None:
    assert set(KINDS) == set(OPERATIONS)


@pytest.mark.parametrize(("reader", "person"), [(person, person) for person in PEOPLE], indirect=["reader"])
def test_what_a_reader_may_call_is_in_the_document_and_nothing_else(reader: Caller, person: str) -> None:
    assert described(reader) == served_to(person)


def served_to(person: str) -> set[tuple[str, str]]:
    """Paths and methods of what is configured for `person`."""
    callable_ = [endpoint for endpoint in Endpoint.objects.filter(enabled=True) if may_call(endpoint, person)]
    operations = {
        (endpoint.path, method.lower()) for endpoint in callable_ for method in KINDS[endpoint.kind].methods
    }
    # A list of files has a path for each.
    operations |= {
        (f"{endpoint.path}/{{fileId}}", "get")
        for endpoint in callable_
        if endpoint.kind == "download" and endpoint.settings.get("notes")
    }
    return operations | (OPEN if person == "anonymous" else SIGNED_IN)


@pytest.mark.parametrize("turn", range(4))
def test_the_same_holds_however_access_is_configured(
    turn: int, anonymous: Caller, rita: Caller, max: Caller, aya: Caller
) -> None:
    roles = list(Role.objects.order_by("name"))
    for at, endpoint in enumerate(Endpoint.objects.order_by("pk")):
        chosen = at + turn
        endpoint.enabled = chosen % 5 != 0
        endpoint.authentication_required = chosen % 3 != 0
        endpoint.save()
        wanted = roles[chosen % len(roles) :][: chosen % 3] if endpoint.authentication_required else []
        endpoint.roles.set(wanted)
    callers = {"anonymous": anonymous, "rita": rita, "max": max, "aya": aya}
    assert {person: described(caller) for person, caller in callers.items()} == {
        person: served_to(person) for person in callers
    }


@pytest.mark.parametrize("reader", PEOPLE, indirect=True)
def test_what_is_described_is_served_to_its_reader(reader: Caller) -> None:
    for path, method in described(reader) - TOKENS:
        address = path.format(id="0" * 8, fileId="0" * 8, name="nothing")
        answer = reader.request(method.upper(), address, b"")
        code = "" if answer.status_code < 300 else answer.json()["code"]
        assert answer.status_code not in {401, 403, 405}, f"{method} {path}: {code}"


def test_an_invalid_token_is_refused_even_here(anonymous: Caller) -> None:
    answer = anonymous.get("/api/openapi.json", authorization="Bearer a.b.c")
    assert answer.status_code == 401
    assert answer.json()["code"] == "invalid_token"


def test_a_create_is_described_as_it_is(rita: Caller) -> None:
    whole = document(rita)
    operation = whole["paths"]["/api/sales/accounts"]["post"]
    schemas = whole["components"]["schemas"]
    schema = schemas["create.sales.accounts.input"]
    assert operation["requestBody"]["content"]["application/json"]["schema"] == {
        "$ref": "#/components/schemas/create.sales.accounts.input"
    }
    assert schema["required"] == ["name"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["name"]["maxLength"] == 160
    assert "200" in operation["responses"]
    assert "201" not in operation["responses"]
    assert operation["x-roles"] == ["sales-manager", "sales-rep"]
    assert operation["security"] == [{"account": []}, {"bearer": []}]
    assert {"$ref": "#/components/parameters/IdempotencyKey"} in operation["parameters"]


def test_options_are_documented_with_their_labels(rita: Caller) -> None:
    schemas = document(rita)["components"]["schemas"]
    industry = schemas["create.sales.accounts.input"]["properties"]["industry"]
    assert {"$ref": "#/components/schemas/options.account.industrycode"} in industry["anyOf"]
    options = schemas["options.account.industrycode"]
    at = options["enum"].index(6)
    assert options["x-enum-descriptions"][at] == "Business Services"
    assert options["x-enum-varnames"][at] == "Business_Services"


def test_problems_are_documented_with_their_codes(rita: Caller) -> None:
    whole = document(rita)
    reference = whole["paths"]["/api/sales/accounts"]["post"]["responses"]["400"]["$ref"]
    response = whole["components"]["responses"][reference.rpartition("/")[2]]
    assert {"invalid_input", "malformed_body", "invalid_idempotency_key"} <= set(response["x-codes"])
    schema = response["content"]["application/problem+json"]["schema"]
    assert schema == {"$ref": "#/components/schemas/Problem"}


def _codes(caller: Caller, path: str, method: str) -> set[tuple[str, str]]:
    """Each status and code of a problem that the document names for an operation."""
    whole = document(caller)
    responses = whole["components"]["responses"]
    references = whole["paths"][path][method]["responses"].items()
    named = ((status, answer["$ref"].rpartition("/")[2]) for status, answer in references if "$ref" in answer)
    return {(status, code) for status, name in named for code in responses[name]["x-codes"]}


def test_what_rules_versions_and_the_platform_refuse_is_documented(max: Caller) -> None:
    record = "/api/sales/accounts/{id}"
    only_rule(
        '<filter><condition attribute="industrycode" operator="eq" value="1"/></filter>', module="sales"
    )
    assert ("403", "outside_row_rule") in _codes(max, record, "patch")
    assert ("422", "platform_refused") in _codes(max, record, "delete")
    assert ("409", "state_conflict") in _codes(max, f"{record}/files/contract", "post")
    only_rule("", module="sales")
    assert ("403", "outside_row_rule") not in _codes(max, record, "patch")


def test_every_call_that_changes_something_says_what_a_full_disk_answers(max: Caller) -> None:
    says_it = {
        (path, method): "507" in operation["responses"]
        for path, operations in document(max)["paths"].items()
        for method, operation in operations.items()
    }
    assert says_it == {(path, method): method != "get" for path, method in says_it}


def test_names_of_problems_are_the_same_with_every_python(anonymous: Caller, rita: Caller) -> None:
    """Python has had other words for some statuses than RFC 9110 has."""
    components = rita.get("/api/openapi.json").json()["components"]["responses"]
    names = {name.partition(".")[0] for name in components}
    assert {"ContentTooLarge", "URITooLong", "UnprocessableContent"} <= names
    assert not {"RequestEntityTooLarge", "RequestURITooLong", "UnprocessableEntity"} & names
    assert anonymous.get("/optionsets/priorities?lcid=" + "1" * 9000).json()["title"] == "URI Too Long"


def test_files_are_binary_and_may_be_asked_for_in_part(rita: Caller) -> None:
    operation = document(rita)["paths"]["/api/sales/accounts/{id}/files/contract"]["get"]
    assert operation["responses"]["200"]["content"]["*/*"]["schema"]["format"] == "binary"
    assert {"206", "304", "416"} <= set(operation["responses"])


def test_operation_ids_are_unique_however_segments_are_written(max: Caller) -> None:
    entity = Endpoint.objects.get(kind="create", entity__segment="accounts").entity
    for segment in ("read-it", "readit", "read-i-t"):
        Endpoint.objects.create(kind="delete", entity=entity, segment=segment)
    operations = [operation for paths in document(max)["paths"].values() for operation in paths.values()]
    ids = [operation["operationId"] for operation in operations]
    assert {"delete.sales.read-it", "delete.sales.readit", "delete.sales.read-i-t"} <= set(ids)
    assert len(ids) == len(set(ids))


def test_a_module_has_a_document_of_its_own(rita: Caller, aya: Caller) -> None:
    Module.objects.create(segment="empty")
    sales = described(aya, "?module=sales")
    assert sales < described(aya)
    assert ("/optionsets/priorities", "get") in sales
    assert not any(path.startswith("/api/service/") for path, _ in sales)
    assert rita.get("/api/openapi.json?module=empty").status_code == 404
    assert rita.get("/api/openapi.json?module=unknown").status_code == 404


def test_tags_are_the_modules_with_their_descriptions(rita: Caller) -> None:
    tags = {tag["name"]: tag["description"] for tag in document(rita)["tags"]}
    assert "Sales" in tags["sales"]
    used = {
        tag for paths in document(rita)["paths"].values() for one in paths.values() for tag in one["tags"]
    }
    assert used == set(tags)


def test_an_edit_shows_at_the_next_fetch(rita: Caller) -> None:
    before = rita.get("/api/openapi.json")
    create = Endpoint.objects.get(kind="create", entity__segment="accounts")
    Input.objects.create(endpoint=create, name="website", type="String")
    Binding.objects.create(endpoint=create, attribute="websiteurl", source="input", value="website")
    after = rita.get("/api/openapi.json", if_none_match=before["ETag"])
    assert after.status_code == 200
    schema = after.json()["components"]["schemas"]["create.sales.accounts.input"]
    assert "website" in schema["properties"]
    assert rita.get("/api/openapi.json", if_none_match=after["ETag"]).status_code == 304


def test_a_tag_is_worthless_to_readers_with_other_roles(rita: Caller, aya: Caller) -> None:
    answer = rita.get("/api/openapi.json")
    assert rita.get("/api/openapi.json", if_none_match=answer["ETag"]).status_code == 304
    assert aya.get("/api/openapi.json", if_none_match=answer["ETag"]).status_code == 200
    assert answer["Cache-Control"] == "private, no-cache"
    assert "Authorization" in answer["Vary"]


def test_an_endpoint_that_cannot_be_built_is_left_out_and_the_others_stay(rita: Caller) -> None:
    Endpoint.objects.filter(kind="local-option-set").update(settings={"option_set": "no_such_attribute"})
    paths = document(rita)["paths"]
    assert "/sales/accounts/optionsets/industries" not in paths
    assert "/api/sales/accounts" in paths


def test_yaml_says_the_same_as_json(rita: Caller) -> None:
    answer = rita.get("/api/openapi.yaml")
    assert answer["Content-Type"] == "application/yaml"
    assert yaml.safe_load(answer.content) == document(rita)


def test_readers_who_can_unpack_get_it_packed(rita: Caller) -> None:
    packed = rita.get("/api/openapi.json", accept_encoding="gzip")
    assert packed["Content-Encoding"] == "gzip"
    plain = rita.get("/api/openapi.json")
    assert gzip.decompress(packed.content) == plain.content
    assert packed["ETag"] != plain["ETag"]


def test_a_long_document_leaves_in_pieces_and_is_whole(max: Caller) -> None:
    account = Endpoint.objects.get(kind="create", entity__segment="accounts")
    place = {"kind": "delete", "module": account.module, "entity": account.entity}
    Endpoint.objects.bulk_create(Endpoint(segment=f"many-{number}", **place) for number in range(800))
    packed = max.get("/api/openapi.json", accept_encoding="gzip")
    plain = max.get("/api/openapi.json")
    pieces = list(plain.streaming_content)
    assert len(pieces) > 1
    assert b"".join(pieces) == gzip.decompress(packed.content)
    size = sum(map(len, pieces))
    assert plain["Content-Length"] == str(size)
    head = max.request("HEAD", "/api/openapi.json")
    assert (head["Content-Length"], head.content) == (str(size), b"")


@pytest.mark.parametrize("accept", ["application/json", "text/html", "application/yaml;q=0", "image/png"])
@pytest.mark.parametrize("path", [page.path for page in PAGES if "." in page.path])
def test_a_path_with_an_extension_says_what_is_wanted(rita: Caller, path: str, accept: str) -> None:
    assert rita.get(path, accept=accept).status_code == 200


def test_a_path_without_one_is_judged_by_accept(rita: Caller) -> None:
    assert rita.get("/api/schema", accept="text/html").status_code == 406


def test_yaml_too_long_to_be_laid_out_says_the_same() -> None:
    text = "de\u2028l\x7f \x85 \U0001f600 \"'\\\n" + "x" * 3_000_000
    content = {
        "info": {},
        "tags": [{"name": "a"}],
        "paths": {"/a/{id}": {"get": {"summary": text, "n": 1.5}}},
    }
    written = as_yaml(content)
    assert yaml.safe_load(written) == content
    assert written.count(b"\n") < 10


def test_the_user_context_is_described_as_it_answers(rita: Caller) -> None:
    import jsonschema

    by_type = document(rita)["components"]["schemas"]["context.output"]
    answer = rita.get("/api/context").json()
    jsonschema.validate(answer, by_type)
    types = by_type["properties"]["user"]["anyOf"]
    [schema] = [one for one in types if one["title"] == "Context of user"]
    jsonschema.validate(answer["user"], schema)
    assert set(schema["properties"]) == set(answer["user"])


def test_a_setting_keeps_descriptions_from_those_without_a_token(
    anonymous: Caller, rita: Caller, settings: Any
) -> None:
    settings.PORTICO = {**settings.PORTICO, "PRIVATE_DESCRIPTIONS": True}
    for path in ("/api/openapi.json", "/api/openapi.yaml", "/api/schema", "/api/schema/entities"):
        assert anonymous.get(path).status_code == 401
        assert rita.get(path).status_code == 200


@pytest.mark.parametrize("query", ["?version=2.0", "?nothing=1", "?module=a&module=b"])
def test_a_wrong_question_is_refused(anonymous: Caller, query: str) -> None:
    answer = anonymous.get(f"/api/openapi.json{query}")
    assert answer.status_code == 400
    assert answer.json()["code"] == "invalid_parameter"


def test_the_docs_page_asks_no_other_host(anonymous: Caller) -> None:
    page = anonymous.get("/api/docs", accept="text/html")
    assert page.status_code == 200
    assert b"//cdn" not in page.content
    assert b"<script>" not in page.content
