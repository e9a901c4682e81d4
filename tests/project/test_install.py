from __future__ import annotations

import re
import shutil
import subprocess
import venv
from pathlib import Path

import pytest

from scripts import install
from tests.servers import ROOT


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with pip: making one takes longer than all that is tested here."""
    folder = tmp_path_factory.mktemp("environment") / "venv"
    venv.create(folder, with_pip=True)
    return folder


@pytest.fixture
def bare_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout in a folder with a space, whose requirements need nothing from outside."""
    root = tmp_path / "a check out"
    (root / "bench").mkdir(parents=True)
    (root / "requirements.txt").write_text("# nothing\n", encoding="utf-8")
    (root / "requirements-dev.txt").write_text("-r requirements.txt\n", encoding="utf-8")
    (root / "bench" / "requirements.txt").write_text("-r ../requirements.txt\n", encoding="utf-8")
    for name in ("requirements", "requirements-dev", "bench/requirements"):
        (root / f"{name}.lock").write_text("# nothing\n", encoding="utf-8")
    monkeypatch.setattr(install, "ROOT", root)
    monkeypatch.setattr(install, "VENV", root / ".venv")
    monkeypatch.setattr(install, "NOTES", root / ".venv" / "installed")
    return root


@pytest.fixture
def checkout(bare_checkout: Path, environment: Path) -> Path:
    """The same with an environment in which nothing is installed yet."""
    shutil.copytree(environment, bare_checkout / ".venv", symlinks=True)
    return bare_checkout


def test_the_second_time_installs_nothing(checkout: Path, capfd: pytest.CaptureFixture[str]) -> None:
    install.main(["requirements-dev.txt"])
    assert "Installing requirements-dev.txt" in capfd.readouterr().out
    install.main(["requirements-dev.txt"])
    install.main(["requirements.txt"])
    assert capfd.readouterr().out == ""


def test_a_changed_requirement_is_installed(checkout: Path, capfd: pytest.CaptureFixture[str]) -> None:
    install.main(["requirements-dev.txt", "bench/requirements.txt"])
    (checkout / "requirements.txt").write_text("# changed\n", encoding="utf-8")
    capfd.readouterr()
    install.main(["bench/requirements.txt"])
    assert "Installing bench/requirements.txt" in capfd.readouterr().out


def test_a_changed_lock_is_installed(checkout: Path, capfd: pytest.CaptureFixture[str]) -> None:
    install.main(["requirements-dev.txt"])
    (checkout / "requirements.lock").write_text("# changed\n", encoding="utf-8")
    capfd.readouterr()
    install.main(["requirements-dev.txt"])
    assert "Installing requirements-dev.txt" in capfd.readouterr().out


def test_a_package_without_a_hash_is_refused(checkout: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (checkout / "requirements.lock").write_text("six==1.17.0\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="Installing failed"):
        install.main(["requirements.txt"])
    assert "hash" in capfd.readouterr().err


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt", "bench/requirements.txt"])
def test_every_requirement_is_locked_as_it_is_pinned(name: str) -> None:
    pins = re.findall(
        r"^([A-Za-z0-9_.-]+)(?:\[[^]]*\])?==([^\s;]+)", (ROOT / name).read_text(encoding="utf-8"), re.M
    )
    lock = install.lock_of(ROOT / name).read_text(encoding="utf-8")
    locked = set(re.findall(r"^([a-z0-9.-]+)(?:\[[^]]*\])?==([^\s;]+)", lock, re.M))
    assert len(pins) >= 3
    assert {(re.sub(r"[-_.]+", "-", name).lower(), version) for name, version in pins} <= locked
    assert lock.count("--hash=sha256:") > len(locked)


def test_a_failed_install_is_not_taken_for_done(checkout: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (checkout / "requirements.lock").write_text("./missing\n", encoding="utf-8")
    for _ in range(2):
        with pytest.raises(SystemExit, match="Installing failed"):
            install.main(["requirements.txt"])


def test_an_environment_that_no_longer_runs_is_made_anew(bare_checkout: Path) -> None:
    python = bare_checkout / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to("/nowhere/python3")
    install.main(["requirements.txt"])
    assert python.resolve().exists()


def test_an_environment_whose_python_became_another_is_made_anew(
    checkout: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (checkout / ".venv" / "pyvenv.cfg").write_text("version = 3.9.1\n", encoding="utf-8")
    install.interpreter()
    assert f"Making the virtual environment .venv with Python {install.VERSION}" in capfd.readouterr().out
    assert install.environment_version() == install.VERSION


def test_a_working_environment_is_kept_unless_another_python_was_named(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    install.main(["--with-this-python", "requirements.txt"])
    monkeypatch.setattr(install, "VERSION", "3.99")
    install.main(["requirements.txt"])
    assert "Making the virtual environment" not in capfd.readouterr().out
    install.interpreter(exactly="3.99")
    assert "Making the virtual environment .venv with Python 3.99" in capfd.readouterr().out


def a_python(folder: Path, name: str, *, version: str, suits: bool) -> Path:
    """A program that answers as a Python of that version would."""
    program = folder / name
    program.parent.mkdir(exist_ok=True)
    answer = f'echo "Python {version}"; exit 0' if version else "exit 127"
    program.write_text(f'#!/bin/sh\n[ "$1" = --version ] && {{ {answer}; }}\nexit {0 if suits else 1}\n')
    program.chmod(0o755)
    return program


def choose(folder: Path, *named: str) -> subprocess.CompletedProcess[str]:
    """Run `scripts/python` where `folder` holds every program that there is."""
    shell = shutil.which("sh")
    assert shell is not None
    command = [shell, str(ROOT / "scripts" / "python"), *named]
    return subprocess.run(command, env={"PATH": str(folder)}, capture_output=True, text=True, check=False)


def test_the_newest_python_that_runs_is_taken(tmp_path: Path) -> None:
    a_python(tmp_path, "python3", version="3.11.7", suits=True)
    assert choose(tmp_path).stdout == "python3\n"
    a_python(tmp_path, "python3.12", version="3.12.1", suits=True)
    # A name without a Python behind it, as version managers leave it.
    a_python(tmp_path, "python3.13", version="", suits=False)
    assert choose(tmp_path).stdout == "python3.12\n"


def test_the_python_that_was_named_is_taken(tmp_path: Path) -> None:
    a_python(tmp_path, "python3.13", version="3.13.0", suits=True)
    named = a_python(tmp_path / "a folder", "python", version="3.11.7", suits=True)
    assert choose(tmp_path, str(named)).stdout == f"{named}\n"


@pytest.mark.parametrize(
    ("version", "named", "reason"),
    [
        ("3.10.13", [], "python3 is Python 3.10.13"),
        ("3.10.13", ["python3"], "python3 is Python 3.10.13"),
        ("3.11.7", ["python3.9"], "python3.9 does not run"),
        ("", [], "no python3 is installed"),
    ],
)
def test_an_older_python_is_refused_with_a_sentence(
    tmp_path: Path, version: str, named: list[str], reason: str
) -> None:
    if version:
        a_python(tmp_path, "python3", version=version, suits=version >= "3.11")
    answer = choose(tmp_path, *named)
    assert (answer.returncode, answer.stdout) == (1, "")
    hint = "Name a newer one: make run PYTHON=/path/to/python3.11"
    assert answer.stderr == f"Portico needs Python 3.11 or newer, and {reason}. {hint}\n"
