from __future__ import annotations

import uuid
from datetime import datetime
from decimal import Decimal
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PlainSerializer

from bench.applications.surroundings import INDUSTRIES, MONEY_PLACES

MOST_MONEY = Decimal("922337203685477.5807")


def no_nul(text: str) -> str:
    if "\x00" in text:
        raise ValueError("NUL is not allowed")
    return text


def not_blank(text: str) -> str:
    if text.isspace():
        raise ValueError("must not be blank")
    return text


def known_industry(value: int) -> int:
    if value not in INDUSTRIES:
        raise ValueError("not one of the options")
    return value


Text = Annotated[str, AfterValidator(no_nul)]


class NewAccount(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: Annotated[Text, Field(min_length=1, max_length=160), AfterValidator(not_blank)]
    phone: Annotated[Text, Field(max_length=50)] | None = None
    revenue: Annotated[Decimal, Field(ge=0, le=MOST_MONEY, decimal_places=MONEY_PLACES)] | None = None
    industry: Annotated[int, Field(strict=True), AfterValidator(known_industry)] | None = None
    primaryContactId: uuid.UUID | None = None  # noqa: N815 - the key that callers send


class ChangedAccount(NewAccount):
    """What is not sent is not set."""

    name: Annotated[Text, Field(min_length=1, max_length=160), AfterValidator(not_blank)] = ""


Money = Annotated[Decimal, PlainSerializer(lambda value: f"{value:.4f}", when_used="json")]


class ListedAccount(BaseModel):
    id: uuid.UUID
    name: str
    phone: str | None
    revenue: Money | None
    industry: int | None


class NamedRecord(BaseModel):
    id: uuid.UUID
    name: str


class ReadAccount(ListedAccount):
    primaryContact: NamedRecord | None  # noqa: N815 - the key that callers get
    createdOn: datetime  # noqa: N815 - the key that callers get


class AccountPage(BaseModel):
    data: list[ListedAccount]
    count: int
    totalRecordCount: int  # noqa: N815 - the key that callers get
    hasMoreRecords: bool  # noqa: N815 - the key that callers get
    cursor: str | None


class Created(BaseModel):
    id: uuid.UUID


class NamedOption(BaseModel):
    name: str
    value: int
