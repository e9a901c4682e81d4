"""The scripts of an endpoint's page, in a real browser, by keyboard where that is how people work."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.browser import follow, sign_in
from tests.designer.create_page import open_create
from tests.servers import Server, Site

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = [pytest.mark.processes, pytest.mark.browser]


@pytest.fixture
def server(site: Site) -> Server:
    return site.start()


@pytest.fixture
def endpoint(server: Server, page: Page) -> Page:
    """The page of the demo's create, as designer."""
    return open_create(server, page)


def test_inputs_are_added_from_attributes_and_served(server: Server, endpoint: Page) -> None:
    endpoint.locator("[data-add-attributes=inputs]").click()
    endpoint.get_by_label("Search attributes").fill("websiteurl")
    endpoint.get_by_role("checkbox", name="(websiteurl)").check()
    endpoint.get_by_role("button", name="Add", exact=True).click()
    added = endpoint.locator("[data-row^=inputs-]").last
    assert added.locator("[name$=-name]").input_value() == "website"
    assert added.locator("[name$=-max_length]").input_value() == "200"
    bound = added.locator("[data-row^=bindings-]")
    assert bound.locator("[name$=-attribute]").input_value() == "websiteurl"
    assert bound.locator("[name$=-value_text]").input_value() == "website"
    endpoint.get_by_role("button", name="Save", exact=True).click()
    endpoint.get_by_text("was changed successfully").wait_for()
    headers = {"Authorization": f"Bearer {server.token('rep')}"}
    body = {"name": "Fabrikam", "website": "https://fabrikam.example"}
    assert server.request("POST", "/api/sales/accounts", json=body, headers=headers).status_code == 200


def test_a_mistake_shows_as_it_is_typed_and_its_fix_takes_it_away(endpoint: Page) -> None:
    endpoint.locator("[data-row=inputs-1]").get_by_label("More settings").click()
    endpoint.locator("[name=inputs-1-max_length]").fill("200")
    endpoint.get_by_role("button", name="Fix: Set the limit to 50").click()
    assert endpoint.locator("[name=inputs-1-max_length]").input_value() == "50"
    endpoint.locator("[data-findings=inputs-1-max_length]:empty").wait_for(state="attached")
    endpoint.locator("[name=inputs-1-type]").select_option("Integer")
    endpoint.locator("[data-findings=inputs-1-type]", has_text="holds String").wait_for()
    assert endpoint.get_by_text("holds String").count() == 1


# The button says it for two seconds. It and what is selected go when the preview that they stand in is made
# anew.
NOTES_COPIED = """new MutationObserver(() => {
  const buttons = [...document.querySelectorAll("[data-copy]")];
  window.saidCopied ||= buttons.some((button) => button.textContent === "✔ Copied");
}).observe(document, { subtree: true, childList: true });
document.addEventListener("copy", () => { window.copied = getSelection().toString(); });"""


@pytest.mark.parametrize("is_there", [True, False], ids=["not permitted", "without https"])
def test_what_scripts_may_not_copy_is_selected_and_copied(server: Server, page: Page, is_there: bool) -> None:
    refuses = "{ writeText: () => Promise.reject(new DOMException('no', 'NotAllowedError')) }"
    clipboard = refuses if is_there else "undefined"
    page.add_init_script(f"Object.defineProperty(navigator, 'clipboard', {{ value: {clipboard} }})")
    page.add_init_script(NOTES_COPIED)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(error.message))
    endpoint = open_create(server, page)
    endpoint.get_by_role("button", name="Copy", exact=True).first.click()
    endpoint.wait_for_function("() => window.saidCopied")
    assert endpoint.evaluate("() => window.copied").startswith("curl -i -X POST")
    endpoint.get_by_role("button", name="Copy", exact=True).first.wait_for()
    assert errors == []


def test_a_fix_adds_the_input_and_the_property_that_it_fills(endpoint: Page) -> None:
    endpoint.locator("[data-row=inputs-0]").get_by_label("Remove").click()
    endpoint.get_by_role("button", name="Fix: Add the input name").click()
    added = endpoint.locator("[data-row^=inputs-]").last
    assert added.locator("[name$=-name]").input_value() == "name"
    assert added.locator("[data-row^=bindings-] [name$=-attribute]").input_value() == "name"
    endpoint.get_by_role("button", name="Fix: Add the input name").wait_for(state="detached")
    endpoint.get_by_role("button", name="Save", exact=True).click()
    endpoint.get_by_text("was changed successfully").wait_for()


def test_of_many_suggestions_those_that_begin_as_typed_are_shown(endpoint: Page) -> None:
    for number in range(14):
        endpoint.evaluate("number => studio.rows.add('inputs', { name: `later${number}` })", number)
    endpoint.evaluate("studio.rows.add('inputs', { name: 'lat' })")
    endpoint.evaluate("studio.rows.add('inputs', { name: 'plate' })")
    endpoint.get_by_role("button", name="Add entity property").click()
    row = endpoint.locator("[data-row^=bindings-]").last
    row.locator("[name$=-source]").select_option("expression")
    row.locator("[id$=_editor]").fill("")
    endpoint.keyboard.type("input.lat")
    shown = endpoint.get_by_role("listbox", name="").locator("[data-value]")
    shown.first.wait_for()
    names = [one.get_attribute("data-value") for one in shown.all()]
    assert names == [f"input.later{number}" for number in range(12)]


def test_rows_are_moved_removed_and_kept_by_keyboard(endpoint: Page) -> None:
    second = endpoint.locator("[data-row=inputs-1]")
    second.get_by_label("More settings").click()
    second.get_by_role("button", name="Move up").focus()
    endpoint.keyboard.press("Enter")
    assert endpoint.locator("[name=inputs-1-position]").input_value() == "0"
    assert endpoint.locator("[name=inputs-0-position]").input_value() == "1"
    second.get_by_label("Remove").focus()
    endpoint.keyboard.press("Enter")
    assert endpoint.locator("[name=inputs-1-DELETE]").is_checked()
    endpoint.keyboard.press("Enter")
    assert not endpoint.locator("[name=inputs-1-DELETE]").is_checked()


def test_rows_of_items_come_with_a_type_that_is_a_list_and_go_with_it(endpoint: Page) -> None:
    endpoint.get_by_role("button", name="Add input").click()
    added = endpoint.locator("[data-row^=inputs-]").last
    kinds = added.locator("[name$=-type]")
    assert added.locator("[data-items]").count() == 0
    kinds.select_option("List")
    added.locator("[data-items]").wait_for()
    kinds.select_option("Text")
    added.locator("[data-items]").wait_for(state="hidden")


def test_an_attribute_is_picked_by_typing_part_of_its_label(endpoint: Page) -> None:
    endpoint.get_by_role("button", name="Add entity property").click()
    endpoint.locator("#id_bindings-5-attribute_search").fill("web")
    endpoint.keyboard.press("Enter")
    assert endpoint.locator("[name=bindings-5-attribute]").input_value() == "websiteurl"
    endpoint.locator("[name=bindings-5-source]").select_option("constant")
    endpoint.locator("#id_bindings-5-value_text_editor").fill("https://example.org")
    assert endpoint.locator("[name=bindings-5-value_text]").input_value() == "https://example.org"
    endpoint.locator("#id_bindings-5-attribute_search").fill("industry")
    endpoint.keyboard.press("Enter")
    assert endpoint.locator("select#id_bindings-5-value_text_editor").count() == 1


def test_who_types_a_whole_name_picks_what_has_it(server: Server, page: Page) -> None:
    sign_in(page, server.url, "/admin/designer/endpoint/")
    page.get_by_text("PATCH, PUT /api/portal/profile/{id}", exact=True).click()
    page.get_by_role("button", name="Add entity property").click()
    row = page.locator("[data-row^=bindings-]").last
    row.locator("[id$=-attribute_search]").fill("statuscode")
    assert row.get_by_role("listbox").get_by_role("option").count() == 2, "familystatuscode, too"
    page.keyboard.press("Enter")
    assert row.locator("[name$=-attribute]").input_value() == "statuscode"


def test_rows_and_text_of_a_query_follow_each_other(server: Server, page: Page) -> None:
    sign_in(page, server.url, "/admin/designer/endpoint/?kind=paginated-query")
    follow(page.get_by_role("link", name="GET /api/sales/queries/accounts", exact=True))
    query = page.locator("#field-settings__query")
    text = page.locator("[name=settings__query]")
    query.get_by_role("button", name="+ Condition").click()
    added = query.locator(".studio-group .studio-condition").last
    added.get_by_role("combobox", name="Attribute").fill("telephone1")
    page.keyboard.press("Enter")
    query.locator(".studio-group .studio-condition").last.get_by_label("Operator").select_option("not-null")
    query.locator(".studio-words", has_text="Main Phone is not empty").wait_for()
    assert '<condition attribute="telephone1" operator="not-null"/>' in text.input_value()
    query.get_by_role("button", name="+ Condition").click()
    added.get_by_role("combobox", name="Attribute").fill("emailaddress1")
    page.keyboard.press("Enter")
    added.get_by_label("Value", exact=True).fill("")
    page.keyboard.type("@user.em")
    page.get_by_role("option", name="@user.email").click()
    assert 'value="@user.email"' in text.input_value()
    query.get_by_text("FetchXML", exact=True).click()
    text.fill('<fetch><entity name="contact"><attribute name="fullname"/></entity></fetch>')
    query.locator(".studio-words", has_text="Contacts").wait_for()
    columns = query.get_by_role("combobox", name="Column")
    # The words may be there before the rows are.
    columns.nth(1).wait_for(state="detached")
    assert columns.input_value() == "Full Name (fullname)"


def test_values_of_conditions_keep_lines_blanks_and_commas(server: Server, page: Page) -> None:
    sign_in(page, server.url, "/admin/queries/new/")
    text = page.locator("textarea[data-fetchxml]")
    text.fill(
        '<fetch><entity name="account"><attribute name="name"/><filter>'
        '<condition attribute="description" operator="eq" value="One&#10;Two"/><condition attribute="name" '
        'operator="in"><value>Smith, John</value><value> a </value><value>b</value></condition></filter>'
        "</entity></fetch>"
    )
    lines, listed = (page.get_by_label("Value", exact=True).nth(at) for at in range(2))
    listed.wait_for()
    page.get_by_label("Operator").first.select_option("ne")
    written = text.input_value()
    assert 'value="One&#10;Two"' in written
    assert all(f"<value>{value}</value>" in written for value in ("Smith, John", " a ", "b"))
    assert lines.input_value() == "One\nTwo"
    assert listed.input_value() == '"Smith, John", " a ", b'
    lines.fill("One\nTwo\nThree")
    listed.fill('"Smith, John", Ann, "say \\"a\\""')
    written = text.input_value()
    assert 'value="One&#10;Two&#10;Three"' in written
    assert all(f"<value>{value}</value>" in written for value in ("Smith, John", "Ann", "say &quot;a&quot;"))
    assert written.count("<value>") == 3


def test_a_name_that_is_typed_and_not_chosen_does_not_stay_in_the_field(server: Server, page: Page) -> None:
    sign_in(page, server.url, "/admin/queries/new/", account="admin")
    text = page.locator("textarea[data-fetchxml]")
    text.fill(
        '<fetch><entity name="contact"><attribute name="fullname"/><filter><condition '
        'attribute="parentcustomerid" operator="eq"/></filter></entity></fetch>'
    )
    value = page.get_by_label("Value", exact=True)
    value.fill("o")
    chosen = page.locator(".studio-choices [role=option]").first
    chosen.wait_for()
    name = chosen.inner_text()
    page.keyboard.press("Enter")
    assert value.input_value() == name
    written = text.input_value()
    value.fill("other")
    value.blur()
    assert value.input_value() == name
    assert text.input_value() == written
    # What a search finds that was asked before the field was left is not shown.
    page.wait_for_timeout(1_000)
    assert not chosen.is_visible()


def test_what_conditions_compare_with_is_suggested_in_row_rules_too(server: Server, page: Page) -> None:
    sign_in(page, server.url, "/admin/designer/exposedentity/")
    follow(page.locator("#result_list tbody tr", has_text="portal").get_by_role("link", name="cases"))
    rule = page.locator("[name$=-filter]").first
    written = '<filter><condition attribute="title" operator="eq"/></filter>'
    rule.evaluate("(field, text) => studio.set(field, text)", written)
    page.get_by_label("Value").first.fill("")
    page.keyboard.type("@user.ro")
    page.get_by_role("option", name="@user.roles").click()
    assert "@user.roles" in rule.input_value()


def test_references_are_suggested_while_typing_and_marked_where_they_do_not_fit(endpoint: Page) -> None:
    endpoint.get_by_role("button", name="Add entity property").click()
    row = endpoint.locator("[data-row^=bindings-]").last
    sent, source = row.locator("[name$=-value_text]"), row.locator("[name$=-source]")
    row.locator("[id$=-attribute_search]").fill("numberofemployees")
    endpoint.keyboard.press("Enter")
    source.select_option("user")
    row.locator("[id$=_editor]").select_option(label="@user.email – String, 100 characters")
    row.locator(".finding", has_text="takes Integer, which @user.email does not give").wait_for()
    source.select_option("expression")
    row.locator("[id$=_editor]").fill("")
    endpoint.keyboard.type("user.full")
    endpoint.get_by_role("option", name="user.fullName").wait_for()
    endpoint.keyboard.press("Enter")
    assert sent.input_value() == "user.fullName"
    assert endpoint.locator("#studio-suggestions").count() == 0


def test_a_user_propertys_own_expression_is_offered_what_it_can_read(endpoint: Page, server: Server) -> None:
    endpoint.goto(server.url + "/admin/designer/userproperty/add/")
    expression = endpoint.locator("[name=expression]")
    assert not expression.is_visible()
    endpoint.locator("[name=kind]").select_option("custom")
    assert not endpoint.locator("[name=relationship]").is_visible()
    expression.click()
    endpoint.keyboard.type("user.ro")
    endpoint.get_by_role("option", name="user.roles").wait_for()
    endpoint.keyboard.press("Enter")
    assert expression.input_value() == "user.roles"


def test_another_type_of_caller_leaves_what_was_typed_of_a_property(endpoint: Page, server: Server) -> None:
    endpoint.on("dialog", lambda dialog: dialog.accept())
    endpoint.goto(server.url + "/admin/designer/userproperty/add/")
    endpoint.locator("[name=name]").fill("greeting")
    endpoint.locator("[name=kind]").select_option("custom")
    endpoint.locator("[name=expression]").fill("'Hello ' +\nuser.fullName")
    endpoint.locator("[name=description]").fill("How to greet")
    with endpoint.expect_navigation():
        endpoint.locator("[name=caller_type]").select_option("contact")
    shown = {
        name: endpoint.locator(f"[name={name}]").input_value()
        for name in ("caller_type", "name", "kind", "expression", "description")
    }
    assert shown == {
        "caller_type": "contact",
        "name": "greeting",
        "kind": "custom",
        "expression": "'Hello ' +\nuser.fullName",
        "description": "How to greet",
    }


def test_constants_are_chosen_by_their_type(endpoint: Page) -> None:
    endpoint.get_by_role("button", name="Add entity property").click()
    row = endpoint.locator("[data-row^=bindings-]").last
    row.locator("[name$=-source]").select_option("constant")

    def given(attribute: str, choose: Callable[[Locator], object]) -> str:
        row.locator("[id$=-attribute_search]").fill(attribute)
        endpoint.keyboard.press("Enter")
        row.locator("[name$=-value_text]").evaluate("field => studio.set(field, '')")
        choose(row.locator("[id$=_editor]"))
        return row.locator("[name$=-value_text]").input_value()

    assert given("industrycode", lambda editor: editor.select_option("3")) == "3"
    assert given("creditonhold", lambda editor: editor.select_option(label="Yes")) == "true"
    assert given("new_customersince", lambda editor: editor.fill("2026-01-31")) == "2026-01-31"
    moment = given("overriddencreatedon", lambda editor: editor.fill("2026-01-31T10:30"))
    assert moment == "2026-01-31T10:30:00Z"
    several = given("new_interests", lambda editor: editor.select_option(index=[0, 2]))
    assert several == "[100000000, 100000002]"


def test_a_new_endpoint_asks_what_its_kind_needs_and_shows_its_path(endpoint: Page) -> None:
    endpoint.get_by_role("link", name="Add to All endpoints").click()
    path, module = endpoint.locator(".studio-new-path"), endpoint.locator("#id_module")
    endpoint.locator("#id_kind").select_option("create")
    assert not module.is_visible()
    endpoint.locator("#id_entity").select_option(label="sales/leads (lead)")
    assert path.inner_text() == "POST /api/sales/leads"
    endpoint.get_by_label("Segment").fill("people")
    assert path.inner_text() == "POST /api/sales/people"
    endpoint.locator("#id_kind").select_option("paginated-query")
    assert module.is_visible()
    assert not endpoint.get_by_label("Segment").is_visible()
    endpoint.locator("#id_module").select_option(label="Sales")
    assert path.inner_text() == "GET /api/sales/queries/{name}"
