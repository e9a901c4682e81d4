"""Makes the tables of the hand-written applications and fills them, where Django is set up."""

from __future__ import annotations

import uuid
from datetime import datetime
from decimal import Decimal

from django.contrib.auth.models import Group, User
from django.core.management import call_command

from bench.applications.stock.models import Account, Contact, Option, OptionLabel
from bench.applications.surroundings import WORLD
from bench.world import PEOPLE


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
    Contact.objects.bulk_create(
        Contact(id=uuid.UUID(contact.id), full_name=contact.name) for contact in WORLD.contacts
    )
    creator = User.objects.get(username="rep")
    Account.objects.bulk_create(
        (
            Account(
                id=uuid.UUID(account.id),
                name=account.name,
                phone=account.phone,
                revenue=None if account.revenue is None else Decimal(account.revenue),
                industry=account.industry,
                primary_contact_id=None if account.contact is None else uuid.UUID(account.contact),
                created_on=datetime.fromisoformat(account.created),
                created_by=creator,
                modified_by=creator,
                owner=creator,
            )
            for account in WORLD.accounts
        ),
        batch_size=1000,
    )
