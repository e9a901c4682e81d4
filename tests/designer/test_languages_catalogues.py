"""The catalogues hold every text of the studio, whole, and are compiled as they are written."""

from __future__ import annotations

import ast
import gettext
import re
import shutil
import subprocess
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest
from django.conf import settings
from django.utils.translation.template import templatize

from crmclient import errors
from crmclient.errors import PlatformFailure

ROOT = settings.BASE_DIR
LANGUAGES = ("de", "ar")
CALLS = {"_", "Counted", "Sentence", "gettext", "gettext_lazy", "gettext_noop", "ngettext"}
PLACE = re.compile(r"%\(\w+\)[sd]|%[sd]")


def compiled(language: str) -> dict[str, list[str]]:
    """Translations by text: of one that counts, all of its forms."""
    path = ROOT / "designer" / "locale" / language / "LC_MESSAGES" / "django.mo"
    return _texts(path.read_bytes())


def _texts(catalogue: bytes) -> dict[str, list[str]]:
    held: dict[str, list[str]] = {}
    entries: dict[object, str] = gettext.GNUTranslations(BytesIO(catalogue))._catalog  # type: ignore[attr-defined]
    for key, text in entries.items():
        held.setdefault(key[0] if isinstance(key, tuple) else str(key), []).append(text)
    return held


def _used() -> Iterator[str]:
    for part in ("crmclient", "designer", "runtime", "project"):
        for path in (ROOT / part).rglob("*.py"):
            yield from _in_python(ast.parse(path.read_text()))
        for path in (ROOT / part).rglob("*.html"):
            yield from _in_python(ast.parse(_calls(path)))


def _calls(template: Path) -> str:
    code = templatize(template.read_text())
    calls = re.findall(r"""\b(?:gettext|_)\(\s*u?(?:"[^"\n]*"|'[^'\n]*')\s*\)""", code)
    counted = re.findall(r"ngettext\(u?'[^\n]*?',", code)
    return "\n".join([*calls, *(f"{start[:-1]})" for start in counted)])


def _in_python(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CALLS):
            continue
        if node.args and isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str):
            yield node.args[0].value


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_is_translated(language: str) -> None:
    used = set(_used())
    assert len(used) > 800
    assert used - {"", *compiled(language)} == set()


def test_no_text_is_said_by_a_name_that_no_catalogue_reads() -> None:
    others = {
        f"{path.relative_to(ROOT)}: {name.name} as {name.asname}"
        for part in ("crmclient", "designer", "runtime", "project")
        for path in (ROOT / part).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom)
        for name in node.names
        if "gettext" in name.name and name.asname not in {None, *CALLS}
    }
    assert others == set()


@pytest.mark.parametrize("language", LANGUAGES)
def test_translations_keep_the_places_of_values(language: str) -> None:
    for text, translations in compiled(language).items():
        if text and len(translations) == 1:
            assert sorted(PLACE.findall(text)) == sorted(PLACE.findall(translations[0])), text


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_form_of_what_counts_keeps_the_places_of_values(language: str) -> None:
    if shutil.which("msgfmt") is None:
        pytest.skip("msgfmt is not installed")
    path = ROOT / "designer" / "locale" / language / "LC_MESSAGES" / "django.po"
    # It knows that a form for one or two may do without its number, and for which forms that holds.
    command = ["msgfmt", "--check-format", "--output-file=/dev/null", str(path)]
    checked = subprocess.run(command, check=False, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_translation_is_a_guess_or_left_out(language: str) -> None:
    written = (ROOT / "designer" / "locale" / language / "LC_MESSAGES" / "django.po").read_text()
    assert ", fuzzy" not in written
    assert not re.findall(r'msgid "[^\n]+"\n(?:msgid_plural "[^\n]+"\n)?msgstr(?:\[\d\])? ""\n\n', written)


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_compiled_is_what_is_written(language: str) -> None:
    if shutil.which("msgfmt") is None:
        pytest.skip("msgfmt is not installed")
    path = ROOT / "designer" / "locale" / language / "LC_MESSAGES" / "django.po"
    made = subprocess.run(["msgfmt", "--output-file=-", path], check=True, capture_output=True).stdout
    texts, written = compiled(language), _texts(made)
    # The header has dates.
    texts.pop("", None), written.pop("", None)
    assert texts == written


def test_the_glossary_has_the_words_of_the_studio() -> None:
    glossary = (ROOT / "docs" / "concepts.md").read_text().partition("## Glossary")[2]
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in glossary.strip().splitlines()]
    terms = [row for row in rows if len(row) == 4][2:]
    assert len(terms) > 20
    german, arabic = compiled("de"), compiled("ar")
    for term, _meaning, in_german, in_arabic in terms:
        assert in_german in german[term], term
        assert in_arabic in arabic[term], term


# What the studio says of a platform that fails.
FAILURES = {
    *(
        name
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, PlatformFailure)
    ),
    *("AttemptFailed", "NotReached", "TimedOut"),
}


def test_reasons_of_failures_of_dataverse_are_sentences_that_are_translated() -> None:
    written = []
    for path in (ROOT / "crmclient" / "dataverse").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FAILURES:
                reason = node.args[0] if node.args else None
                if isinstance(reason, ast.Constant | ast.JoinedStr):
                    written.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert written == []
