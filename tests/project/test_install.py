from __future__ import annotations

import shutil
import sys
import venv
from pathlib import Path

import pytest

from scripts import install


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


def test_a_failed_install_is_not_taken_for_done(checkout: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (checkout / "requirements.txt").write_text("./missing\n", encoding="utf-8")
    for _ in range(2):
        with pytest.raises(SystemExit, match="Installing failed"):
            install.main(["requirements.txt"])


def test_an_environment_that_no_longer_runs_is_made_anew(bare_checkout: Path) -> None:
    python = bare_checkout / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to("/nowhere/python3")
    install.main(["requirements.txt"])
    assert python.resolve().exists()


def test_an_older_python_is_refused_with_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install, "OLDEST", (sys.version_info[0], sys.version_info[1] + 1))
    with pytest.raises(SystemExit, match=r"needs Python .*make run PYTHON="):
        install.main(["requirements.txt"])
