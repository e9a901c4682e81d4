"""Party lists of activities that are imported."""

from __future__ import annotations

from django.db import DEFAULT_DB_ALIAS

from crmbox.engine.connection import read_unit
from crmbox.engine.definitions import Ownership
from crmbox.importing.import_plan import plan
from crmbox.importing.source_entity import SourceEntity
from crmbox.metadata import staged_change
from crmbox.platform import EmbeddedPlatform
from crmclient import Party, Reference
from crmclient.metadata import Attribute, AttributeType, Entity, Label


def test_a_party_list_points_at_those_of_its_entities_that_are_there(joined: EmbeddedPlatform) -> None:
    mail = SourceEntity(
        Entity("shop_mail", "shop_mails", Label(), Label(), "activityid", "subject"),
        (
            Attribute("subject", AttributeType.STRING, max_length=100, is_primary_name=True),
            Attribute("to", AttributeType.PARTYLIST, targets=("systemuser", "queue")),
            Attribute("cc", AttributeType.PARTYLIST, targets=("queue",)),
        ),
        (),
        ownership=Ownership.USER,
        has_states=True,
    )
    with read_unit() as unit:
        draft = staged_change.draft_of(unit)
        done = plan(draft, [mail], {}, unit)
    staged_change.carry_out(draft, lambda *_: None, DEFAULT_DB_ALIAS)

    attributes = joined.attributes("shop_mail")
    assert attributes["to"].targets == ("systemuser",)
    assert "cc" not in attributes
    assert any("shop_mail.cc" in note.subject for note in done.notes)
    me = Party(Reference("systemuser", joined.who(), "Portico Service"))
    id = joined.create("shop_mail", {"subject": "Hello", "to": (me,)}).id
    assert joined.retrieve("shop_mail", id, ["to"]).values == {"to": (me,)}
    joined.delete("shop_mail", id)
