"""The studio's language: chosen in it, or the browser's; the API has none."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils.translation import override

from designer.models import AuditEntry, Endpoint, Module, Role, Version
from designer.readiness import Finding, Severity
from designer.sentences import Sentence, said
from designer.templatetags.directions import directed
from runtime.callers.api_accounts import ApiAccount
from tests.designer.studio import change_url, filled, page, send

pytestmark = pytest.mark.django_db

GERMAN = {"Accept-Language": "de-DE,de;q=0.9"}


def test_the_login_speaks_the_browsers_language() -> None:
    answer = Client().get("/admin/login/", headers=GERMAN)
    assert answer.headers["Content-Language"] == "de"
    assert 'lang="de" dir="ltr"' in answer.content.decode()
    assert "Passwort" in answer.content.decode()


def test_a_chosen_language_counts_more_than_the_browsers_and_stays() -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.get("/admin/login/", headers=GERMAN)
    token = browser.cookies["csrftoken"].value
    sent = {"language": "ar", "next": "/admin/login/", "csrfmiddlewaretoken": token}
    answer = browser.post("/admin/language/", sent)
    assert (answer.status_code, answer.headers["Location"]) == (302, "/admin/login/")
    cookie = answer.cookies["django_language"]
    assert (cookie["path"], cookie["httponly"], cookie["samesite"]) == ("/admin/", True, "Lax")
    assert 'lang="ar" dir="rtl"' in browser.get("/admin/login/", headers=GERMAN).content.decode()


def test_no_other_site_chooses_the_language() -> None:
    browser = Client(enforce_csrf_checks=True)
    assert browser.post("/admin/language/", {"language": "ar"}).status_code == 403


def test_the_way_back_from_choosing_leads_to_no_other_site() -> None:
    answer = Client().post("/admin/language/", {"language": "de", "next": "https://elsewhere.example/"})
    assert answer.headers["Location"] == "/"


def test_an_unknown_language_is_left_alone() -> None:
    browser = Client()
    browser.post("/admin/language/", {"language": "xx", "next": "/admin/login/"})
    assert browser.get("/admin/login/").headers["Content-Language"] == "en"


@pytest.mark.parametrize("path", ["/api/none/such", "/api/token", "/api/schema"])
def test_the_api_answers_in_english_whatever_is_asked_for(path: str) -> None:
    plain, asked = Client(), Client()
    asked.cookies["django_language"] = "de"
    # The thread has just spoken another language.
    asked.get("/admin/login/", headers=GERMAN)
    first, second = plain.get(path), asked.get(path, headers=GERMAN)
    assert first.status_code == second.status_code
    for volatile in ("X-Request-Id", "Date", "RateLimit"):
        first.headers.pop(volatile, None), second.headers.pop(volatile, None)
    assert first.headers == second.headers
    assert "Content-Language" not in second.headers
    one, other = first.json(), second.json()
    for answer in (one, other):
        answer.pop("requestId", None), answer.pop("instance", None)
    assert one == other


def test_findings_are_said_in_the_readers_language_and_reported_in_english() -> None:
    finding = Finding(
        "role-unknown", Severity.BLOCKING, Sentence("There is no role “%(role)s”.", role="x"), "e"
    )
    with override("de"):
        assert finding.said == "Es gibt keine Rolle „x“."
        assert finding.to_json()["message"] == finding.message == "There is no role “x”."


def test_a_sentence_within_a_sentence_is_translated_too() -> None:
    inner = Sentence("Must be a whole number.")
    with override("de"):
        outer = said(Sentence("Input “%(name)s”: its default: %(reason)s", name="age", reason=inner))
    assert outer == "Eingabe „age“: ihr Standardwert: Muss eine ganze Zahl sein."


def test_labels_and_help_of_forms_are_translated(dora: Client) -> None:
    page = dora.get("/admin/designer/module/add/", headers=GERMAN).content.decode()
    assert "Steht in jedem Pfad des Moduls" in page
    assert "Beschreibung" in page


def test_a_refused_page_does_not_say_that_there_is_nothing_to_correct(dora: Client) -> None:
    refused = dora.post("/admin/designer/module/add/", {"segment": "A b"}, headers={"Accept-Language": "ar"})
    note = re.search(r'<p class="errornote[^>]*>([^<]*)<', refused.content.decode())
    assert note is not None
    assert note[1].strip() == "يرجى تصحيح ما هو مميز أدناه."


def test_what_is_quoted_keeps_its_direction_from_right_to_left() -> None:
    line = "title: “a <b>” → “c → d”"
    assert directed(line) == "title: “a &lt;b&gt;” → “c → d”"
    with override("ar"):
        assert directed(line) == "title: <bdi>“a &lt;b&gt;”</bdi> ← <bdi>“c → d”</bdi>"


def test_the_path_in_an_endpoint_s_name_keeps_its_direction_from_right_to_left() -> None:
    endpoint = Endpoint(kind="single-query", module=Module(segment="odd"), name="mine")
    assert str(endpoint) == "Single query: /api/odd/queries/mine"
    with override("ar"):
        assert str(endpoint).endswith(
            ": \N{FIRST STRONG ISOLATE}/api/odd/queries/mine\N{POP DIRECTIONAL ISOLATE}"
        )


def test_the_audit_log_is_in_english_whoever_did_it(dora: Client) -> None:
    role = Role.objects.get(name="support")
    send(dora, change_url(role), filled(page(dora, change_url(role))) | {"title": "Helfer"})
    (change,) = Version.objects.all()[0].changes.all()
    path = reverse("studio:restore_version", args=[change.version.pk])
    answer = dora.post(path, {"change": change.pk, "to": "before"}, follow=True, headers=GERMAN)
    assert f"zurück auf dem Stand vor Version {change.version.pk}." in answer.content.decode()
    noted = AuditEntry.objects.filter(action="restore").latest("id")
    assert (noted.subject, noted.detail) == ("role support", f"version {change.version.pk}")


@pytest.mark.parametrize(("language", "shown"), [("en", "%Y-%m-%d"), ("de", "%d.%m.%Y"), ("ar", "%Y/%m/%d")])
def test_all_pages_write_a_moment_in_one_way(dora: Client, language: str, shown: str) -> None:
    """Those that are the studio's own, and the lists and histories that the admin makes."""
    admin = User.objects.get(username="admin")
    dora.force_login(admin, backend="django.contrib.auth.backends.ModelBackend")
    dora.cookies["django_language"] = language
    made_at, logged_in = Version.objects.latest("pk").made_at, User.objects.get(pk=admin.pk).last_login
    assert logged_in is not None
    assert f"{made_at:{shown} %H:%M}" in page(dora, reverse("studio:versions")).content.decode()
    account = ApiAccount.objects.all()[0]
    User.objects.filter(pk=account.user_id).update(last_login=logged_in)
    listed = page(dora, reverse("admin:runtime_apiaccount_changelist")).content.decode()
    assert f"{logged_in:{shown} %H:%M}" in listed
    logged = page(dora, reverse("studio:audit")).content.decode()
    assert f"{AuditEntry.objects.latest('pk').at:{shown} %H:%M:%S}" in logged


def test_lists_have_the_comma_of_the_readers_language(dora: Client) -> None:
    """In the facts of attributes, and in the sentence that says what a query finds."""
    arabic = {"Accept-Language": "ar"}
    address = reverse("studio:metadata")
    attributes = dora.get(address, {"entity": "contact"}, headers=arabic).json()["attributes"]
    facts = attributes["lastname"]["facts"]
    assert facts.startswith("String، 50 ")
    assert ", " not in facts
    query = '<fetch><entity name="account"><order attribute="name"/></entity></fetch>'
    words = dora.post(reverse("studio:query_words"), {"query": query}, headers=arabic).json()["words"]
    assert words.count("، ") == 2
    assert ", " not in words
