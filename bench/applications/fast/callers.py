"""The caller of a request: token, account, roles and its share of requests."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, HTTPException, Request
from sqlalchemy.orm import Session

from bench.applications.counting import Counter
from bench.applications.fast.storage import User, session
from bench.applications.tokens import InvalidToken, verify
from bench.world import ROLES

SessionDep = Annotated[Session, Depends(session)]
counter = Counter()


def account_of(request: Request) -> int | None:
    """The account's id in the token; None without one."""
    header = request.headers.get("authorization")
    try:
        return verify(header).account if header is not None else None
    except InvalidToken as error:
        raise HTTPException(401, "The token is not valid.") from error


async def anyone(request: Request) -> None:
    """An anonymous caller is counted by address; a wrong token is refused all the same."""
    account = account_of(request)
    address = request.client.host if request.client else ""
    _count(address if account is None else f"account {account}")


def sales(request: Request, session: SessionDep) -> User:
    account = account_of(request)
    user = session.get(User, account) if account is not None else None
    if user is None or not user.is_active:
        raise HTTPException(401, "A token is needed.")
    _count(f"account {user.id}")
    if not {group.name for group in user.groups} & set(ROLES):
        raise HTTPException(403, "None of your roles allows this.")
    return user


def _count(who: str) -> None:
    if not counter.allows(who):
        raise HTTPException(429, "Slow down.")
