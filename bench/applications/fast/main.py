from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import Depends, FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from sqlalchemy import and_, bindparam, func, select
from sqlalchemy.orm import Session, aliased

from bench.applications.fast.callers import SessionDep, anyone, sales
from bench.applications.fast.exact import ExactRoute
from bench.applications.fast.records import router
from bench.applications.fast.schemas import Created, NamedOption, NewAccount
from bench.applications.fast.storage import Account, Contact, Option, OptionLabel, User, engine
from bench.applications.problems import CHALLENGE, CONTENT_TYPE, field_error, problem

ENGLISH = 1033
application = FastAPI()
application.router.route_class = ExactRoute
application.include_router(router)
memory: dict[tuple[str, int], list[NamedOption]] = {}


def locale(request: Request) -> int:
    parameters = [(name.lower(), value) for name, value in request.query_params.multi_items()]
    if not parameters:
        return ENGLISH
    (name, value), *others = parameters
    if others or name != "lcid" or not value.lstrip("-").isdecimal():
        wrong = {"loc": ("query", "lcid"), "type": "invalid", "msg": "Only lcid, once."}
        raise RequestValidationError([wrong])
    return int(value)


ASKED, ENGLISH_LABEL = aliased(OptionLabel), aliased(OptionLabel)
OPTIONS = (
    select(func.coalesce(ASKED.label, ENGLISH_LABEL.label), Option.value)
    .join(ENGLISH_LABEL, and_(ENGLISH_LABEL.option_id == Option.id, ENGLISH_LABEL.lcid == ENGLISH))
    .outerjoin(ASKED, and_(ASKED.option_id == Option.id, ASKED.lcid == bindparam("lcid")))
    .where(Option.option_set == bindparam("name"), Option.hidden.is_(False))
    .order_by(Option.position)
)


def read_options(session: Session, name: str, lcid: int) -> list[NamedOption]:
    rows = session.execute(OPTIONS, {"name": name, "lcid": lcid})
    return [NamedOption(name=label, value=value) for label, value in rows]


@application.get("/optionsets/{name}", dependencies=[Depends(anyone)])
def option_set(request: Request, name: str, session: SessionDep) -> list[NamedOption]:
    """Reads the options and their labels from the database."""
    return read_options(session, name, locale(request))


@application.get("/memory/optionsets/{name}", dependencies=[Depends(anyone)])
async def option_set_in_memory(request: Request, name: str) -> list[NamedOption]:
    """The same, read once: an option set that never changes."""
    lcid = locale(request)
    if (name, lcid) not in memory:
        with Session(engine) as session:
            memory[name, lcid] = read_options(session, name, lcid)
    return memory[name, lcid]


@application.post("/api/sales/accounts")
def create_account(
    user: Annotated[User, Depends(sales)], account: NewAccount, session: SessionDep
) -> Created:
    contact = account.primaryContactId
    if contact is not None and session.get(Contact, contact) is None:
        wrong = {"loc": ("body", "primaryContactId"), "type": "not_found", "msg": "No such contact."}
        raise RequestValidationError([wrong])
    now = datetime.now(UTC)
    row = Account(
        name=account.name,
        phone=account.phone,
        revenue=account.revenue,
        industry=account.industry,
        primary_contact_id=contact,
        created_on=now,
        modified_on=now,
        created_by_id=user.id,
        modified_by_id=user.id,
        owner_id=user.id,
    )
    session.add(row)
    session.flush()
    created = Created(id=row.id)
    session.commit()
    return created


@application.exception_handler(HTTPException)
async def refuse(request: Request, error: HTTPException) -> JSONResponse:
    return answer(error.status_code, "refused", str(error.detail))


@application.exception_handler(RequestValidationError)
async def refuse_inputs(request: Request, error: RequestValidationError) -> JSONResponse:
    errors: list[dict[str, Any]] = [
        field_error(str(wrong["loc"][1]), wrong["type"], wrong["msg"])
        for wrong in error.errors()
        if len(wrong["loc"]) > 1 and wrong["type"] != "json_invalid"
    ]
    return answer(400, "invalid", "The inputs are not valid.", errors)


def answer(status: int, code: str, detail: str, errors: list[dict[str, Any]] | None = None) -> JSONResponse:
    return JSONResponse(
        problem(status, code, detail, errors),
        status_code=status,
        media_type=CONTENT_TYPE,
        headers=CHALLENGE if status == 401 else None,
    )
