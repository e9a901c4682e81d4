"""One account at a time, all of them page by page, and the file of one."""

from __future__ import annotations

import hashlib
import time
import uuid
from datetime import UTC, datetime
from typing import Annotated, Any

import jwt
from fastapi import APIRouter, Depends, HTTPException, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse
from sqlalchemy import func, select, tuple_
from sqlalchemy.orm import joinedload

from bench.applications.fast.callers import SessionDep, sales
from bench.applications.fast.exact import ExactRoute
from bench.applications.fast.schemas import (
    AccountPage,
    ChangedAccount,
    ListedAccount,
    NamedRecord,
    ReadAccount,
)
from bench.applications.fast.storage import Account, Contact, User
from bench.applications.surroundings import WORLD
from bench.world import FILE_NAME, SIGNING_KEY

router = APIRouter(route_class=ExactRoute)
Seller = Annotated[User, Depends(sales)]
MOST = 500
ATTRIBUTES = {"primaryContactId": "primary_contact_id"}


@router.get("/api/sales/bench/{key}")
def read_account(request: Request, key: uuid.UUID, user: Seller, session: SessionDep) -> Response:
    _only(request)
    account = session.get(Account, key, options=[joinedload(Account.primary_contact)])
    if account is None:
        raise HTTPException(404, "There is no such account.")
    contact = account.primary_contact
    created = account.created_on.replace(tzinfo=UTC)
    content = ReadAccount(
        **_listed(account).model_dump(),
        primaryContact=None if contact is None else NamedRecord(id=contact.id, name=contact.full_name),
        createdOn=created,
    ).model_dump_json()
    tag = f'"{account.version}.{hashlib.sha256(content.encode()).hexdigest()[:20]}"'
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers={"ETag": tag})
    return Response(content, media_type="application/json", headers={"ETag": tag})


@router.patch("/api/sales/bench/{key}", status_code=204)
def change_account(
    request: Request, key: uuid.UUID, change: ChangedAccount, user: Seller, session: SessionDep
) -> Response:
    account = session.get(Account, key)
    if account is None:
        raise HTTPException(404, "There is no such account.")
    meant = request.headers.get("if-match", "*").strip('"').partition(".")[0]
    if meant not in ("*", str(account.version)):
        raise HTTPException(412, "The record has changed.")
    sent = change.model_dump(exclude_unset=True)
    contact = sent.get("primaryContactId")
    if contact is not None and session.get(Contact, contact) is None:
        wrong = {"loc": ("body", "primaryContactId"), "type": "not_found", "msg": "No such contact."}
        raise RequestValidationError([wrong])
    for name, value in sent.items():
        setattr(account, ATTRIBUTES.get(name, name), value)
    account.modified_on, account.modified_by_id = datetime.now(UTC), user.id
    account.version += 1
    version = account.version
    session.commit()
    return Response(status_code=204, headers={"ETag": f'"{version}"'})


@router.get("/api/sales/queries/bench")
def list_accounts(
    request: Request,
    response: Response,
    user: Seller,
    session: SessionDep,
    page_size: Annotated[int, Query(alias="pageSize", ge=1, le=MOST)] = 50,
    cursor: str | None = None,
) -> AccountPage:
    _only(request, "pageSize", "cursor")
    total = session.scalar(select(func.count()).select_from(Account))
    chosen = select(Account).order_by(Account.name, Account.id).limit(page_size + 1)
    if cursor is not None:
        chosen = chosen.where(tuple_(Account.name, Account.id) > _position(cursor))
    accounts = session.scalars(chosen).all()
    more = len(accounts) > page_size
    rows = accounts[:page_size]
    mark = _mark(rows[-1]) if more else None
    if mark:
        response.headers["Link"] = f'<{request.url.path}?pageSize={page_size}&cursor={mark}>; rel="next"'
    return AccountPage(
        data=[_listed(row) for row in rows],
        count=len(rows),
        totalRecordCount=total or 0,
        hasMoreRecords=more,
        cursor=mark,
    )


@router.get("/api/sales/bench/{key}/files/contract")
def contract(key: uuid.UUID, user: Seller) -> FileResponse:
    if str(key) != WORLD.accounts[0].id:
        raise HTTPException(404, "There is no file.")
    return FileResponse(WORLD.document, filename=FILE_NAME, headers={"X-Content-Type-Options": "nosniff"})


def _listed(row: Account) -> ListedAccount:
    return ListedAccount(
        id=row.id, name=row.name, phone=row.phone, revenue=row.revenue, industry=row.industry
    )


def _mark(row: Account) -> str:
    return jwt.encode({"at": [row.name, str(row.id)], "exp": int(time.time()) + 86_400}, SIGNING_KEY, "HS256")


def _position(mark: str) -> Any:
    try:
        name, key = jwt.decode(mark, SIGNING_KEY, algorithms=["HS256"])["at"]
    except (jwt.InvalidTokenError, KeyError, ValueError) as error:
        wrong = {"loc": ("query", "cursor"), "type": "invalid", "msg": "This cursor is not valid."}
        raise RequestValidationError([wrong]) from error
    return (name, uuid.UUID(key))


def _only(request: Request, *known: str) -> None:
    if unknown := sorted(request.query_params.keys() - set(known)):
        wrong = {"loc": ("query", unknown[0]), "type": "invalid", "msg": "There is no such parameter."}
        raise RequestValidationError([wrong])
