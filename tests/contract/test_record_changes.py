"""Whether the records of an entity have changed since a mark."""

from __future__ import annotations

import pytest

from crmclient import Platform, TracksChanges
from crmclient.errors import InvalidQuery, UnknownEntity
from tests.contract.making import account

pytestmark = pytest.mark.needs("what has changed since a mark")


def tracking(platform: Platform) -> TracksChanges:
    assert isinstance(platform, TracksChanges)
    return platform


def begun(platform: Platform) -> str:
    changes = tracking(platform).record_changes("account", None)
    assert changes is not None
    assert not changes.any
    return changes.mark


def has_changed(platform: Platform, mark: str) -> bool:
    changes = tracking(platform).record_changes("account", mark)
    assert changes is not None
    return changes.any


def test_creates_updates_and_deletes_are_changes_and_others_are_not(platform: Platform) -> None:
    assert platform.entities()["account"].tracks_changes
    mark = begun(platform)
    assert not has_changed(platform, mark)

    id = account(platform)
    assert has_changed(platform, mark)
    mark = begun(platform)
    platform.create("lead", {"subject": "Another entity", "lastname": "Lead"})
    assert not has_changed(platform, mark)
    platform.update("account", id, {"name": "Changed"})
    assert has_changed(platform, mark)
    mark = begun(platform)
    platform.delete("account", id)
    assert has_changed(platform, mark)
    assert not has_changed(platform, begun(platform))


def test_a_mark_that_makes_no_sense_tells_nothing(platform: Platform) -> None:
    assert tracking(platform).record_changes("account", "nonsense") is None


def test_entities_that_cannot_be_asked_about(platform: Platform) -> None:
    with pytest.raises(UnknownEntity):
        tracking(platform).record_changes("nothing", None)
    untracked = next(name for name, entity in platform.entities().items() if not entity.tracks_changes)
    with pytest.raises(InvalidQuery):
        tracking(platform).record_changes(untracked, None)
