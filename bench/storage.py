"""Databases for the contenders: SQLite files in a folder, or PostgreSQL databases on loopback."""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from pathlib import Path

import psycopg
from psycopg import sql


class Databases(ABC):
    """Makes databases by name, as URLs, and removes them all in the end."""

    @abstractmethod
    def create(self, name: str) -> str:
        """An empty database; one of that name is replaced."""

    @abstractmethod
    def copy(self, source: str, name: str) -> str:
        """A database with the content of `source`, which nobody may have open."""

    @abstractmethod
    def settle(self, name: str) -> None:
        """Bring a filled database to the state in which its own upkeep leaves it within minutes."""

    @abstractmethod
    def remove(self) -> None: ...


class SqliteFiles(Databases):
    """`remove` is left to whoever removes the folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.sqlite3"

    def create(self, name: str) -> str:
        self._path(name).unlink(missing_ok=True)
        return f"sqlite:///{self._path(name)}"

    def copy(self, source: str, name: str) -> str:
        url = self.create(name)
        origin, target = sqlite3.connect(self._path(source)), sqlite3.connect(self._path(name))
        origin.backup(target)
        origin.close()
        target.close()
        return url

    def settle(self, name: str) -> None:
        """SQLite has no upkeep of its own."""

    def remove(self) -> None:
        return


class PostgresDatabases(Databases):
    """`server` is a URL without a database, for a role that may create databases."""

    def __init__(self, server: str, prefix: str = "portico_bench_") -> None:
        self._server = server.rstrip("/")
        self._prefix = prefix
        self._made: list[str] = []

    def create(self, name: str) -> str:
        return self._make(name, "template0")

    def copy(self, source: str, name: str) -> str:
        return self._make(name, self._prefix + source)

    def settle(self, name: str) -> None:
        """As autovacuum does. Until then a total reads every row of a table instead of an index."""
        with psycopg.connect(f"{self._server}/{self._prefix}{name}", autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")

    def remove(self) -> None:
        for database in self._made:
            self._run("DROP DATABASE IF EXISTS {} WITH (FORCE)", database)

    def _make(self, name: str, template: str) -> str:
        database = self._prefix + name
        self._run("DROP DATABASE IF EXISTS {} WITH (FORCE)", database)
        self._run("CREATE DATABASE {} TEMPLATE {}", database, template)
        self._made.append(database)
        return f"{self._server}/{database}"

    def _run(self, statement: str, *names: str) -> None:
        with psycopg.connect(f"{self._server}/postgres", autocommit=True) as connection:
            connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))
