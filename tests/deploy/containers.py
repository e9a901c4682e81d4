"""An image built from the machine's own Debian mirror, and Compose with it, on Podman.

No registry is asked. The base is made by `mmdebstrap`. PostgreSQL, Redis and Caddy are the machine's own
programs, in containers that have nothing but its `/usr`: they stand in for
the images that deploy/compose.yaml names.
"""

from __future__ import annotations

import io
import os
import platform
import resource
import shutil
import signal
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.impossible import ImpossibleHere
from tests.servers import COMMAND_SECONDS, ROOT

TOOLS = (
    "podman",
    "mmdebstrap",
    "runc",
    "catatonit",
    "redis-server",
    "caddy",
    "pg_config",
    "nsenter",
    "socat",
)
BASE, IMAGE, STAND_IN = "localhost/base:test", "localhost/portico:test", "localhost/stand-in"
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
# As the image of PostgreSQL does on its first start: a user and a database of the given names.
_DATABASE = """#!/bin/sh
set -eu
if [ ! -s "$PGDATA/PG_VERSION" ]; then
    initdb --username="$POSTGRES_USER" --pwfile="$POSTGRES_PASSWORD_FILE" --auth-host=scram-sha-256 \
        --encoding=UTF8 --locale=C.UTF-8
    echo "host all all all scram-sha-256" >>"$PGDATA/pg_hba.conf"
    pg_ctl start --wait --options "-c listen_addresses= -k /tmp"
    createdb --username="$POSTGRES_USER" "$POSTGRES_DB"
    pg_ctl stop --wait
fi
exec postgres -c 'listen_addresses=*' -k /tmp
"""


@contextmanager
def own_network() -> Iterator[Path]:
    """The file of a network of its own, with a loopback interface, as `nsenter --net=` takes it."""
    script = "ip link set lo up && echo up && exec sleep infinity"
    with subprocess.Popen(
        ["unshare", "--net", "sh", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as holder:
        try:
            assert holder.stdout
            assert holder.stderr
            if holder.stdout.readline() != "up\n":
                raise ImpossibleHere(f"No network can be made here: {holder.stderr.read()}")
            yield Path(f"/proc/{holder.pid}/ns/net")
        finally:
            holder.kill()


@contextmanager
def published(port: int, network: Path) -> Iterator[None]:
    """Have this machine's `port` lead to the same one in `network`."""
    # Colons have a meaning of their own in socat's addresses.
    within = rf"nsenter --net={network} socat STDIO TCP\:127.0.0.1\:{port}"
    forwarder = subprocess.Popen(
        ["socat", f"TCP-LISTEN:{port},bind=127.0.0.1,reuseaddr,fork", f"EXEC:{within}"],
        start_new_session=True,
    )
    try:
        yield
    finally:
        os.killpg(forwarder.pid, signal.SIGKILL)
        forwarder.wait()


@dataclass
class Podman:
    """Podman with storage, networks and settings of its own below `folder`.

    Its interfaces and firewall are those of `network`. In the machine's own network they would disturb
    whatever runs beside: Chromium stops loading a page when an interface comes or goes (ERR_NETWORK_CHANGED).
    """

    folder: Path
    network: Path

    @property
    def environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "CONTAINERS_CONF": str(self.folder / "containers.conf"),
            "CONTAINERS_STORAGE_CONF": str(self.folder / "storage.conf"),
        }

    def configure(self, driver: str) -> None:
        files = min(65536, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
        (self.folder / "networks").mkdir(parents=True, exist_ok=True)
        (self.folder / "containers.conf").write_text(
            f"""[containers]
default_ulimits = ["nofile={files}:{files}", "nproc=4096:4096"]
log_driver = "k8s-file"
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
[network]
network_backend = "netavark"
network_config_dir = "{self.folder / "networks"}"
"""
        )
        (self.folder / "storage.conf").write_text(
            f"""[storage]
driver = "{driver}"
graphroot = "{self.folder / "storage"}"
runroot = "{self.folder / "run"}"
"""
        )

    def within(self, *command: str) -> list[str]:
        """The command in Podman's network."""
        return ["nsenter", f"--net={self.network}", *command]

    def run(self, *arguments: str) -> str:
        """What Podman prints on standard output. It must succeed."""
        return run(self.within("podman", *arguments), self.environment)

    def remove_all(self) -> None:
        for command in (["rm", "--all", "--force", "--time", "0"], ["volume", "prune", "--force"]):
            subprocess.run(
                self.within("podman", *command), env=self.environment, capture_output=True, check=False
            )
        subprocess.run(
            ["podman", "rmi", "--all", "--force"], env=self.environment, capture_output=True, check=False
        )
        for mounted in (self.folder / "storage" / "overlay", self.folder / "storage"):
            subprocess.run(["umount", "--lazy", str(mounted)], capture_output=True, check=False)


def run(command: list[str], environment: dict[str, str], cwd: Path = ROOT, stdin: Path | None = None) -> str:
    """What a command prints on standard output. It must succeed."""
    return run_bytes(command, environment, cwd, stdin).decode()


def run_bytes(command: list[str], environment: dict[str, str], cwd: Path, stdin: Path | None) -> bytes:
    with (stdin or Path(os.devnull)).open("rb") as given:
        done = subprocess.run(
            command,
            cwd=cwd,
            env=environment,
            stdin=given,
            capture_output=True,
            timeout=COMMAND_SECONDS,
            check=False,
        )
    assert done.returncode == 0, f"{command}\n{done.stdout!r}\n{done.stderr.decode()}"
    return done.stdout


@pytest.fixture(scope="session")
def network() -> Iterator[Path]:
    with own_network() as network:
        yield network


@pytest.fixture(scope="session")
def podman(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Podman]:
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"Not installed: {', '.join(missing)}")
    if os.geteuid() != 0 or platform.freedesktop_os_release().get("ID") != "debian":
        pytest.skip("Only root on Debian can make a base image here")
    own = Podman(tmp_path_factory.mktemp("podman"), request.getfixturevalue("network"))
    for driver in ("overlay", "vfs"):
        own.configure(driver)
        if not subprocess.run(["podman", "info"], env=own.environment, capture_output=True).returncode:
            break
    try:
        _make_stand_ins(own)
        tried = subprocess.run(
            own.within(
                *("podman", "run", "--rm", "--volume", "/usr:/usr:ro", f"{STAND_IN}-cache", "/usr/bin/true")
            ),
            env=own.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if tried.returncode:
            raise ImpossibleHere(f"Podman runs no containers here: {tried.stderr}")
        yield own
    finally:
        own.remove_all()


@pytest.fixture(scope="session")
def image(podman: Podman) -> str:
    """The image, built by deploy/image from a base of Debian's packages."""
    base = podman.folder / "base.tar"
    release = platform.freedesktop_os_release()["VERSION_CODENAME"]
    sources = [Path("/etc/apt/sources.list"), Path("/etc/apt/sources.list.d/debian.sources")]
    run(
        [
            *("mmdebstrap", "--variant=minbase", "--include=python3,python3-venv,ca-certificates"),
            *("--dpkgopt=force-unsafe-io", "--dpkgopt=path-exclude=/usr/share/doc/*"),
            *("--dpkgopt=path-exclude=/usr/share/locale/*", release, str(base)),
            *(str(source) for source in sources if source.exists()),
        ],
        podman.environment,
    )
    podman.run("import", str(base), BASE)
    base.unlink()
    settings = {"BUILDER": "podman", "IMAGE": IMAGE, "BASE": BASE}
    # Packages come from where the machine has them from.
    if Path("/etc/pip.conf").exists():
        settings["PIP_CONF"] = "/etc/pip.conf"
    run(
        ["deploy/image", "--isolation", "chroot", "--volume", f"{CERTIFICATES}:{CERTIFICATES}:ro"],
        {**podman.environment, **settings},
    )
    return IMAGE


def _make_stand_ins(podman: Podman) -> None:
    archive = podman.folder / "stand-in.tar"
    _write_archive(archive)
    programs = run(["pg_config", "--bindir"], podman.environment).strip()
    path = f"PATH={programs}:/usr/bin:/usr/sbin"
    changes = {
        "database": (
            'CMD ["/database"]',
            "USER 999:999",
            "ENV PGHOST=/tmp",
            "ENV PGDATA=/var/lib/postgresql/data/pgdata",
        ),
        "cache": (),
        "proxy": (
            'CMD ["caddy", "run", "--config", "/etc/caddy/Caddyfile"]',
            "ENV XDG_DATA_HOME=/data",
            "ENV XDG_CONFIG_HOME=/config",
        ),
    }
    for name, own in changes.items():
        options = [option for change in (f"ENV {path}", *own) for option in ("--change", change)]
        podman.run("import", *options, str(archive), f"{STAND_IN}-{name}")


def _write_archive(path: Path) -> None:
    """A root that is complete once the machine's /usr is mounted in it."""
    folders = ("usr", "etc", "etc/caddy", "run", "proc", "sys", "dev", "data", "config", "var", "var/lib")
    with tarfile.open(path, "w") as archive:

        def add(
            name: str, kind: bytes, mode: int, content: bytes = b"", owner: int = 0, link: str = ""
        ) -> None:
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode, entry.size, entry.linkname = kind, mode, len(content), link
            entry.uid = entry.gid = owner
            archive.addfile(entry, io.BytesIO(content))

        for folder in (*folders, "var/lib/postgresql"):
            add(folder, tarfile.DIRTYPE, 0o755)
        add("tmp", tarfile.DIRTYPE, 0o1777)
        add("var/lib/postgresql/data", tarfile.DIRTYPE, 0o700, owner=999)
        for name in ("bin", "sbin", "lib", "lib64"):
            add(name, tarfile.SYMTYPE, 0o777, link=f"usr/{name}")
        add("etc/passwd", tarfile.REGTYPE, 0o644, b"root:x:0:0::/:/bin/sh\npostgres:x:999:999::/:/bin/sh\n")
        add("database", tarfile.REGTYPE, 0o755, _DATABASE.encode())


@dataclass
class Deployment:
    """A copy of deploy/, started as the documentation says: `compose` is deploy/compose."""

    folder: Path
    podman: Podman
    project: str
    http: int
    https: int

    @property
    def url(self) -> str:
        return f"https://localhost:{self.https}"

    @property
    def environment(self) -> dict[str, str]:
        return {
            **self.podman.environment,
            "COMPOSE": str(Path(sys.executable).with_name("podman-compose")),
            "COMPOSE_PROJECT_NAME": self.project,
            "PORTICO_IMAGE": IMAGE,
            "PORTICO_ADDRESS": f"localhost:{self.https}",
            "HTTP_PORT": str(self.http),
            "HTTPS_PORT": str(self.https),
            "POSTGRES_IMAGE": f"{STAND_IN}-database",
            "REDIS_IMAGE": f"{STAND_IN}-cache",
            "CADDY_IMAGE": f"{STAND_IN}-proxy",
        }

    def compose(self, *arguments: str, stdin: Path | None = None) -> str:
        """The output of deploy/compose, which must succeed."""
        return self.compose_bytes(*arguments, stdin=stdin).decode()

    def compose_bytes(self, *arguments: str, stdin: Path | None = None) -> bytes:
        command = self.podman.within(
            str(self.folder / "compose"), "--file", str(self.folder / "stand-ins.yaml"), *arguments
        )
        return run_bytes(command, self.environment, self.folder, stdin)

    def manage(self, *arguments: str) -> str:
        return self.compose("exec", "-T", "portico", "python", "manage.py", *arguments)

    def logs(self) -> str:
        names = self.podman.run("ps", "--all", "--format", "{{.Names}}").split()
        done = [
            subprocess.run(
                ["podman", "logs", name],
                env=self.podman.environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            ).stdout[-4000:]
            for name in names
        ]
        return "\n".join(f"== {name}\n{text}" for name, text in zip(names, done, strict=True))
