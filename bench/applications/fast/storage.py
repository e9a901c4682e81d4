"""The tables as SQLAlchemy sees them, and a session per request."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    DateTime,
    ForeignKey,
    Table,
    TypeDecorator,
    Uuid,
    create_engine,
    event,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship

from bench.applications.surroundings import DATABASE_URL, MONEY_UNITS

engine = create_engine(DATABASE_URL.replace("postgres://", "postgresql+psycopg://", 1), pool_size=16)


@event.listens_for(engine, "connect")
def _prepare(connection: Any, _: Any) -> None:
    if engine.dialect.name == "sqlite":
        for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON", "busy_timeout=20000"):
            connection.execute(f"PRAGMA {pragma}")


def session() -> Iterator[Session]:
    with Session(engine) as opened:
        yield opened


class Money(TypeDecorator[Decimal]):
    """Exact money as a whole number of ten-thousandths."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: Decimal | None, dialect: Any) -> int | None:
        return None if value is None else int(value * MONEY_UNITS)

    def process_result_value(self, value: int | None, dialect: Any) -> Decimal | None:
        return None if value is None else Decimal(value).scaleb(-4)


class Base(DeclarativeBase):
    pass


memberships = Table(
    "auth_user_groups",
    Base.metadata,
    Column("user_id", ForeignKey("auth_user.id"), primary_key=True),
    Column("group_id", ForeignKey("auth_group.id"), primary_key=True),
)


class Group(Base):
    __tablename__ = "auth_group"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]


class User(Base):
    __tablename__ = "auth_user"
    id: Mapped[int] = mapped_column(primary_key=True)
    is_active: Mapped[bool]
    groups: Mapped[list[Group]] = relationship(secondary=memberships, lazy="joined")


class Contact(Base):
    __tablename__ = "contact"
    id: Mapped[uuid.UUID] = mapped_column(Uuid, primary_key=True)
    full_name: Mapped[str]


class Account(Base):
    __tablename__ = "account"
    id: Mapped[uuid.UUID] = mapped_column(Uuid, primary_key=True, default=uuid.uuid4)
    name: Mapped[str]
    phone: Mapped[str | None]
    revenue: Mapped[Decimal | None] = mapped_column(Money)
    industry: Mapped[int | None]
    primary_contact_id: Mapped[uuid.UUID | None] = mapped_column(ForeignKey("contact.id"))
    primary_contact: Mapped[Contact | None] = relationship()
    created_on: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    modified_on: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    created_by_id: Mapped[int] = mapped_column(ForeignKey("auth_user.id"))
    modified_by_id: Mapped[int] = mapped_column(ForeignKey("auth_user.id"))
    owner_id: Mapped[int] = mapped_column(ForeignKey("auth_user.id"))
    state: Mapped[int] = mapped_column(default=0)
    status: Mapped[int] = mapped_column(default=1)
    version: Mapped[int] = mapped_column(default=1)


class Option(Base):
    __tablename__ = "option"
    id: Mapped[int] = mapped_column(primary_key=True)
    option_set: Mapped[str]
    value: Mapped[int]
    position: Mapped[int]
    hidden: Mapped[bool]


class OptionLabel(Base):
    __tablename__ = "option_label"
    id: Mapped[int] = mapped_column(primary_key=True)
    option_id: Mapped[int] = mapped_column(ForeignKey("option.id"))
    lcid: Mapped[int]
    label: Mapped[str]
