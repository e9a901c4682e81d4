"""Makes the tables of the hand-written applications and fills them, where Django is set up."""

from __future__ import annotations

import uuid

from django.contrib.auth.models import Group, User
from django.core.management import call_command

from bench.applications.stock.models import Account, Contact, Option, OptionLabel
from bench.applications.surroundings import WORLD
from bench.world import ACCOUNTS, PEOPLE, account_name


def seed() -> None:
    call_command("migrate", verbosity=0)
    for name, role in PEOPLE.items():
        user = User.objects.create(username=name)
        user.groups.add(Group.objects.get_or_create(name=role)[0])
    for position, choice in enumerate(WORLD.priorities):
        option = Option.objects.create(
            option_set="priorities", value=choice.value, position=position, hidden=choice.hidden
        )
        OptionLabel.objects.bulk_create(
            OptionLabel(option=option, lcid=int(lcid), label=label) for lcid, label in choice.labels.items()
        )
    Contact.objects.bulk_create(Contact(id=uuid.UUID(key), full_name=key) for key in WORLD.contacts)
    creator = User.objects.get(username="rep")
    Account.objects.bulk_create(
        (
            Account(name=account_name(number), created_by=creator, modified_by=creator, owner=creator)
            for number in range(ACCOUNTS)
        ),
        batch_size=1000,
    )
