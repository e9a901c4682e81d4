"""The portal inside our service's process, where Django is set up: its records, endpoints and accounts."""

from __future__ import annotations

import io

from django.contrib.auth.models import User

from bench.portal import world
from bench.portal.trace import ARTICLES, CALLERS, CASES
from crmclient import Create, Reference
from designer.models import Binding, Column, Endpoint, ExposedEntity, Input, Role, RowRuleEntry, UserProperty
from designer.platform import get_platform
from runtime.callers.api_accounts import ApiAccount

BATCH = 500
# Of the demo's endpoints of the portal, those whose work the trace has.
KEPT = (
    ("multi-query", "articles"),
    ("paginated-query", "my-cases"),
    ("create", ""),
    ("read", ""),
    ("download", "attachments"),
)
PUBLISHED = 7
COMPANY = ("company", "managedCompanyId")
READ_ARTICLE = (("knowledgearticleid", "id"), ("title", ""), ("description", "summary"), ("content", ""))


def fill(callers: str) -> None:
    """The records of so many callers, on the platform: contacts, their cases, a file each; and articles."""
    platform = get_platform()
    articles = [
        Create(
            "knowledgearticle",
            {
                "articlepublicnumber": f"PB-{number:05d}",
                "title": f"Article {number} of the portal",
                "description": f"What it is about, {world.STAMP}",
                "content": "<p>How it is done, step by step.</p>" * 20,
                "isinternal": False,
                "statuscode": PUBLISHED,
            },
            world.article(number),
        )
        for number in range(ARTICLES)
    ]
    contacts = [
        Create(
            "contact",
            {
                "firstname": f"Caller {caller}",
                "lastname": world.STAMP,
                "emailaddress1": f"caller{caller}@portal.example",
            },
            world.contact(caller),
        )
        for caller in range(int(callers))
    ]
    cases = [
        Create(
            "incident",
            {
                "title": world.case_title(caller, number, 0),
                "description": "What happened, and since when.",
                "customerid": Reference("contact", world.contact(caller)),
            },
            world.case(caller, number),
        )
        for caller in range(int(callers))
        for number in range(CASES)
    ]
    notes = [
        Create(
            "annotation",
            {"subject": "log.txt", "objectid": Reference("incident", world.case(caller, 0))},
            world.note(caller),
        )
        for caller in range(int(callers))
    ]
    for records in (articles, contacts, cases, notes):
        for start in range(0, len(records), BATCH):
            platform.batch(records[start : start + BATCH])
    for caller in range(int(callers)):
        content = io.BytesIO(b"02:30:04 E-17 door open\n" * 50)
        platform.upload(
            "annotation",
            world.note(caller),
            "documentbody",
            content,
            file_name="log.txt",
            content_type="text/plain",
        )


def configure(seconds: str) -> None:
    """The endpoints of the trace and an account for each caller. Reads cache their answers for so long, and
    serve them for ten times that while the platform is away; not at all with 0."""
    _endpoints()
    role = Role.objects.get(name="customer")
    first = world.FIRST_ACCOUNT_ID
    User.objects.bulk_create(
        [User(id=first + caller, username=f"caller{caller}", password="!") for caller in range(CALLERS)],
        batch_size=BATCH,
    )
    accounts = ApiAccount.objects.bulk_create(
        [
            ApiAccount(user_id=first + caller, caller_type_id="contact", record=world.contact(caller))
            for caller in range(CALLERS)
        ],
        batch_size=BATCH,
    )
    roles = ApiAccount.roles.through
    roles.objects.bulk_create(
        [roles(apiaccount_id=account.pk, role_id=role.pk) for account in accounts], batch_size=BATCH
    )
    if int(seconds):
        _cache(int(seconds))


def _endpoints() -> None:
    """The demo's, without what asks for a caller's company, and two of the bench's own."""
    for endpoint in Endpoint.objects.filter(module__segment="portal"):
        if (endpoint.kind, endpoint.name) not in KEPT:
            endpoint.delete()
    UserProperty.objects.filter(caller_type__name="contact", name__in=COMPANY).delete()
    RowRuleEntry.objects.filter(exposed__entity="incident", filter__contains="managedCompanyId").delete()
    Binding.objects.filter(endpoint__module__segment="portal", attribute="new_companyid").delete()
    cases = ExposedEntity.objects.get(module__segment="portal", segment="cases")
    articles = ExposedEntity.objects.get(module__segment="portal", segment="articles")
    customer = {"caller_types": ["contact"]}
    update = Endpoint.objects.create(kind="update", module=cases.module, entity=cases, **customer)
    update.roles.add(Role.objects.get(name="customer"))
    Input.objects.create(endpoint=update, name="title", max_length=200)
    Binding.objects.create(endpoint=update, attribute="title", value="title")
    read = Endpoint.objects.create(
        kind="read", module=articles.module, entity=articles, authentication_required=False
    )
    for at, (attribute, name) in enumerate(READ_ARTICLE):
        Column.objects.create(endpoint=read, attribute=attribute, name=name, position=at)
    paged = Endpoint.objects.get(kind="paginated-query", module=cases.module, name="my-cases")
    # A portal's list of one's own cases needs no count of them.
    Endpoint.objects.filter(pk=paged.pk).update(settings={**paged.settings, "total": False})


def _cache(seconds: int) -> None:
    cache = {"seconds": seconds, "stale_seconds": 10 * seconds}
    reads = ("multi-query", "paginated-query", "read", "download")
    for endpoint in Endpoint.objects.filter(module__segment="portal", kind__in=reads):
        endpoint.settings = {**endpoint.settings, "cache": cache}
        endpoint.save()
