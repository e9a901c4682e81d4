"""Definitions of entities as an organisation answers them in JSON, and their import."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

from django.core.management import call_command


def label(text: str, german: str | None = None) -> dict[str, Any]:
    texts = [(text, 1033), *([(german, 1031)] if german else [])]
    return {"LocalizedLabels": [{"Label": each, "LanguageCode": lcid} for each, lcid in texts]}


def attribute(name: str, type_: str, **more: Any) -> dict[str, Any]:
    return {
        "LogicalName": name.lower(),
        "SchemaName": name,
        "AttributeType": type_,
        "AttributeTypeName": {"Value": f"{type_}Type"},
        "DisplayName": label(name.removeprefix("wool_")),
        "RequiredLevel": {"Value": "None"},
        **more,
    }


def option(value: int, text: str, **more: Any) -> dict[str, Any]:
    return {"Value": value, "Label": label(text), **more}


def options(name: str, *members: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"Name": name, "IsGlobal": False, "Options": list(members), **more}


def entity(name: str, *attributes: dict[str, Any], **more: Any) -> dict[str, Any]:
    logical = name.lower()
    return {
        "LogicalName": logical,
        "SchemaName": name,
        "EntitySetName": f"{logical}s",
        "PrimaryIdAttribute": f"{logical}id",
        "PrimaryNameAttribute": "wool_name",
        "DisplayName": label(name.removeprefix("wool_"), f"{name} auf Deutsch"),
        "DisplayCollectionName": label(f"{name}s"),
        "OwnershipType": "UserOwned",
        "Attributes": [
            attribute(f"{logical}id", "Uniqueidentifier", IsPrimaryId=True),
            attribute("wool_name", "String", MaxLength=80, IsPrimaryName=True),
            attribute("createdon", "DateTime", DisplayName=label("Born")),
            attribute("ownerid", "Owner", Targets=["systemuser", "team"]),
            *attributes,
        ],
        **more,
    }


def imported(folder: Path, content: Any, *arguments: str, suffix: str = "json") -> str:
    """What the command prints."""
    path = folder / f"organisation.{suffix}"
    if not isinstance(content, bytes):
        content = (content if isinstance(content, str) else json.dumps(content)).encode()
    path.write_bytes(content)
    out = io.StringIO()
    call_command("importmetadata", str(path), *arguments, stdout=out)
    return out.getvalue()
