from __future__ import annotations

from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from hypothesis import given
from hypothesis import strategies as st

from project.environment import SETTINGS, load
from tests.servers import Site

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "settings.md"


def test_an_empty_environment_is_production() -> None:
    assert load({})["PORTICO_MODE"] == "production"


def test_every_setting_has_a_value_without_an_environment() -> None:
    assert set(load({})) == {setting.name for setting in SETTINGS}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORTICO_MODE", "staging"),
        ("PORT", "0"),
        ("PORT", "65536"),
        ("PORT", "http"),
        ("WORKERS", "0"),
        ("THREADS", "-1"),
        ("TRUSTED_PROXIES", "-1"),
        ("CALLER_RATE", "many"),
        ("CRM_IMPERSONATE", "perhaps"),
        ("CRM_FILES", "cloud"),
        ("LOG_LEVEL", "verbose"),
        ("PORT", "²"),
        ("DATABASE_URL", "garbage"),
        ("DATABASE_URL", "postgres://u@h:99999/x"),
        ("CACHE_URL", "localhost:6379"),
        ("CRM_FISCAL_YEAR_START", "4-1"),
        ("CRM_FISCAL_YEAR_START", "02-29"),
        ("CRM_FISCAL_YEAR_START", "W10-1"),
        ("AUDIT_DAYS", "365001"),
    ],
)
def test_a_value_that_cannot_be_read_is_refused_by_name(name: str, value: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=name):
        load({name: value})


@given(st.lists(st.text(st.characters(exclude_characters=",", exclude_categories=["Z", "C"]), min_size=1)))
def test_words_are_what_stands_between_commas(hosts: list[str]) -> None:
    assert load({"ALLOWED_HOSTS": " , ".join(hosts)})["ALLOWED_HOSTS"] == hosts


def test_a_secret_is_read_from_its_file(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("from the file\n", encoding="utf-8")
    assert load({"SECRET_KEY_FILE": str(file)})["SECRET_KEY"] == "from the file"


def test_the_variable_wins_over_the_file(tmp_path: Path) -> None:
    assert load({"SECRET_KEY": "given", "SECRET_KEY_FILE": str(tmp_path / "none")})["SECRET_KEY"] == "given"


def test_a_secret_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    path = str(tmp_path / "missing")
    with pytest.raises(ImproperlyConfigured, match=r"SECRET_KEY_FILE.*missing"):
        load({"SECRET_KEY_FILE": path})


def test_a_secret_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    file = tmp_path / "random"
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ImproperlyConfigured, match=r"SECRET_KEY_FILE: .*random is no text in UTF-8"):
        load({"SECRET_KEY_FILE": str(file)})


def test_a_secret_that_cannot_be_read_is_not_shown() -> None:
    for name in ("DATABASE_URL", "CACHE_URL"):
        with pytest.raises(ImproperlyConfigured, match=f"{name}: write a URL") as refused:
            load({name: "mysql://user:hunter2@localhost/x"})
        assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize("threshold", ["often", "-1", "1.5"])
def test_an_option_of_the_database_that_cannot_be_read_is_named(empty_site: Site, threshold: str) -> None:
    database = f"postgres://user:hunter2@localhost/x?prepare_threshold={threshold}"
    status, output, errors = empty_site.run_apart("check", DATABASE_URL=database)
    assert status == 1
    assert "DATABASE_URL: write prepare_threshold as None" in output + errors
    assert "Traceback" not in output + errors
    assert "hunter2" not in output + errors


def test_the_document_lists_every_setting_with_its_default_and_help() -> None:
    rows = {
        cells[1].strip(" `"): (cells[2].strip().strip("`"), cells[3].strip())
        for line in DOCUMENT.read_text(encoding="utf-8").splitlines()
        if line.startswith("| `") and len(cells := line.split("|")) == 5
    }
    assert rows == {setting.name: (setting.default, setting.help) for setting in SETTINGS}
