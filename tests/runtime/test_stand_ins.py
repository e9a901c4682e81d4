"""What stands in for the platform is closed: what it was not told of, it refuses."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.http import HttpResponse

from crmbox.platform import EmbeddedPlatform
from crmclient import Platform
from crmclient.query.ast import Column, Page, Query
from crmclient.stand_in import EFFECTS, Effect, StandIn
from designer.loading import load
from designer.platform import get_platform
from designer.ports import Attempt
from runtime.describe.fragment_maker import MetadataSnapshot, NotMetadata
from runtime.operations import OPERATIONS
from runtime.operations.create import CreateOperation
from runtime.request_context import Exchange
from runtime.studio import StudioRuntime
from runtime.studio.dry_run import NotSent, RecordingPlatform
from tests.runtime.accounts import endpoint

_ROOT = Path(__file__).parents[2]
_ATTRIBUTES = {"conventions", "local_revision_sql"}


def _accounts() -> int:
    query = Query("account", (Column("accountid"),))
    return get_platform().query(query, Page(size=1, total=True)).total or 0


def _members() -> set[str]:
    """Of the protocol, and of those that it may be made of one day."""
    protocols = [protocol for protocol in Platform.__mro__ if protocol.__module__.startswith("crmclient")]
    names = {name for protocol in protocols for name in (*vars(protocol), *inspect.get_annotations(protocol))}
    return {name for name in names if not name.startswith("_")}


def _call(platform: Any, member: str) -> Any:
    """With nothing for each argument: who stands in must decide before it asks."""
    parameters = list(inspect.signature(getattr(platform, member)).parameters.values())
    needed = [parameter for parameter in parameters if parameter.default is inspect.Parameter.empty]
    positional = [None for parameter in needed if parameter.kind is not inspect.Parameter.KEYWORD_ONLY]
    named = {parameter.name: None for parameter in needed if parameter.kind is inspect.Parameter.KEYWORD_ONLY}
    return getattr(platform, member)(*positional, **named)


def test_every_member_of_the_platform_is_declared() -> None:
    assert set(EFFECTS) == _members() - _ATTRIBUTES
    assert vars(StandIn).keys() >= set(EFFECTS)
    assert set(vars(RecordingPlatform.dry(EmbeddedPlatform()))) >= _ATTRIBUTES


@pytest.mark.parametrize("member", sorted(EFFECTS))
def test_a_stand_in_takes_what_the_platform_takes(member: str) -> None:
    assert inspect.signature(getattr(StandIn, member)) == inspect.signature(getattr(Platform, member))


@pytest.mark.parametrize("member", sorted(EFFECTS))
def test_a_dry_run_sends_no_member_that_writes(member: str) -> None:
    with pytest.raises((NotSent, _Reached)) as raised:
        _call(RecordingPlatform.dry(_Nowhere()), member)
    assert isinstance(raised.value, NotSent) == (EFFECTS[member] is Effect.WRITE)


@pytest.mark.parametrize("member", sorted(EFFECTS))
def test_what_is_never_to_be_sent_reads_metadata_alone(member: str) -> None:
    for platform, refusal in (
        (RecordingPlatform.dry(_Nowhere()).silent(), NotSent),
        (MetadataSnapshot(_Nowhere()), NotMetadata),
    ):
        with pytest.raises((refusal, _Reached)) as raised:
            _call(platform, member)
        assert isinstance(raised.value, refusal) == (EFFECTS[member] is not Effect.METADATA)


class _Reached(Exception):
    """The platform itself was asked."""


class _Nowhere(StandIn):
    """Where every question ends."""

    def __init__(self) -> None:
        super().__init__(EmbeddedPlatform())

    def answer(self, member_call: Any, ask: Any) -> Any:
        raise _Reached(member_call.member)


class _MergingPlatform(EmbeddedPlatform):
    """Knows a write that `Platform` does not."""

    def merge(self) -> None:
        self.create("account", {"name": "Written"})


class _Merging(CreateOperation):
    def run(self, exchange: Exchange) -> HttpResponse:
        platform: Any = self.platform
        platform.merge()
        return HttpResponse("written")


@pytest.fixture
def merging(portico: None, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    settings.PORTICO = {**settings.PORTICO, "PLATFORM": f"{__name__}._MergingPlatform"}
    monkeypatch.setitem(OPERATIONS, "create", _Merging)
    get_platform.cache_clear()
    yield
    get_platform.cache_clear()


@pytest.mark.parametrize("dry", [True, False])
def test_a_write_that_nobody_declared_is_refused(merging: None, dry: bool) -> None:
    before, configuration = _accounts(), load()
    attempt = Attempt(roles=("sales-rep",), content=b'{"name": "Contoso"}', dry=dry)
    outcome = StudioRuntime().attempt(configuration.endpoints[endpoint("create").pk], configuration, attempt)
    assert (outcome.status, _accounts()) == (500, before)


def test_nothing_passes_on_members_that_it_does_not_name() -> None:
    open_ones = [
        f"{path.relative_to(_ROOT)}:{node.lineno}"
        for package in ("crmclient", "designer", "runtime", "project")
        for path in sorted((_ROOT / package).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef) and node.name in ("__getattr__", "__getattribute__")
    ]
    assert open_ones == []
