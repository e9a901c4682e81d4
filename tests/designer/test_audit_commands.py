"""What management commands do to accounts, groups and keys is in the audit log, like what the studio does."""

from __future__ import annotations

import json

import pytest
from django.contrib.auth.models import User
from django.test import Client

from designer.models import AuditEntry
from tests.servers import Site

PASSWORD = "a long one of its own"

CHANGES = """
from django.contrib.auth.models import Group, User
from designer.models import Role
from runtime.models import ApiAccount, ApiKey
nora = User.objects.get(username="nora")
nora.groups.add(Group.objects.get(name="Publisher"))
Group.objects.get(name="Viewer").user_set.add(nora)
nora.set_password("another long one")
nora.save()
nora.save()
Group.objects.create(name="Auditors")
account = ApiAccount.objects.create(user=User.objects.create_user("rita"))
account.roles.add(Role.objects.create(name="support"))
ApiKey.objects.create(name="Nightly", prefix="x", digest="y").delete()
account.delete()
"""

READ = """
import json
from designer.models import AuditEntry
wanted = AuditEntry.objects.exclude(action="configuration").order_by("pk")
print(json.dumps(list(wanted.values_list("account", "action", "subject", "detail"))))
"""


@pytest.mark.processes
def test_what_commands_do_to_accounts_is_in_the_log(empty_site: Site) -> None:
    site = empty_site
    site.manage("prepare", "migrate", "--no-demo")
    made = ("createsuperuser", "--noinput", "--username", "nora", "--email", "n@example.com")
    site.manage(*made, DJANGO_SUPERUSER_PASSWORD=PASSWORD)
    site.manage("shell", "-v", "0", "-c", CHANGES)

    text = site.manage("shell", "-v", "0", "-c", READ)

    entries = [tuple(entry) for entry in json.loads(text.splitlines()[-1])]
    by_command = {command: [rest for name, *rest in entries if name == command] for command, *_ in entries}
    ((action, subject, detail),) = by_command.pop("manage.py createsuperuser")
    assert (action, subject) == ("add", "studio account: nora")
    assert "superuser: – → yes" in detail
    assert [tuple(entry) for entry in by_command.pop("manage.py shell")] == [
        ("change", "studio account: nora", "groups: +Publisher"),
        ("change", "studio account: nora", "groups: +Viewer"),
        ("change", "studio account: nora", "password: changed"),
        ("add", "group: Auditors", "name: – → Auditors"),
        ("add", "user: rita", "name: – → rita; active: – → yes; staff: – → no; superuser: – → no"),
        ("add", "API account: rita", f"name: – → rita; active: – → yes; {_made('user')}"),
        ("change", "API account: rita", "roles: +support"),
        ("add", "API key: Nightly (x)", f"{_made('service')}; active: – → yes; expires: – → never"),
        ("delete", "API key: Nightly (x)", f"{_gone('service')}; active: yes → –; expires: never → –"),
        ("delete", "API account: rita", f"name: rita → –; active: yes → –; roles: −support; {_gone('user')}"),
    ]
    assert all(name.startswith("manage.py ") for name in by_command)
    assert PASSWORD not in text
    assert "pbkdf2" not in text
    assert "argon2" not in text


def _made(type: str) -> str:
    return f"caller type: – → {type}; record: – → none; rate: – → default"


def _gone(type: str) -> str:
    return f"caller type: {type} → –; record: none → –; rate: default → –"


def test_the_studio_notes_once_what_is_done_in_it(portico: None) -> None:
    client = Client()
    client.force_login(
        User.objects.get(username="admin"), backend="django.contrib.auth.backends.ModelBackend"
    )
    newest = AuditEntry.objects.latest("pk").pk
    assert client.post("/admin/auth/group/add/", {"name": "Auditors"}).status_code == 302
    entries = AuditEntry.objects.filter(pk__gt=newest, subject="group: Auditors")
    assert [entry.account for entry in entries] == ["admin"]
