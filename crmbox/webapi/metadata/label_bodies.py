"""Labels in the platform's shape, both ways."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crmbox.webapi.errors import bad_payload
from crmbox.webapi.metadata.items import metadata_id
from crmclient.metadata import ENGLISH, Label


def label_json(label: Label, *owner: str) -> dict[str, Any]:
    """Return a label as JSON. `owner` has the names of the item that the label belongs to.

    The language of a service is English: `UserLocalizedLabel` is None if the label has no English text.
    """
    texts = {
        lcid: {
            "Label": text,
            "LanguageCode": lcid,
            "IsManaged": False,
            "MetadataId": metadata_id("label", *owner, str(lcid)),
            "HasChanged": None,
        }
        for lcid, text in label.texts.items()
    }
    return {"LocalizedLabels": list(texts.values()), "UserLocalizedLabel": texts.get(ENGLISH)}


def read_label(value: object) -> Label:
    """Read a label in a body; null is an empty one. Raises WebApiError for another shape."""
    if value is None:
        return Label()
    if not isinstance(value, Mapping):
        raise _not_a_label(value)
    items = value.get("LocalizedLabels")
    if items is None:
        items = [value["UserLocalizedLabel"]] if value.get("UserLocalizedLabel") else []
    if not isinstance(items, list):
        raise _not_a_label(value)
    return Label(dict(_read_text(item) for item in items))


def merged_label(before: Label, after: Label, *, keep: bool) -> Label:
    """Return the label `after`. With `keep`, texts of `before` in other languages stay.

    The header `MSCRM.MergeLabels: true` asks for that.
    """
    return Label({**before.texts, **after.texts}) if keep else after


def _read_text(item: object) -> tuple[int, str]:
    """Return the language (LCID) and the text of one localised label. Raises WebApiError."""
    if isinstance(item, Mapping):
        lcid, text = item.get("LanguageCode"), item.get("Label")
        if type(lcid) is int and isinstance(text, str):
            return lcid, text
    raise _not_a_label(item)


def _not_a_label(value: object) -> Exception:
    """Return the error for a value in the place of a label, or of a text in one."""
    return bad_payload(
        "A label is an object with LocalizedLabels, each of which has a Label and a LanguageCode; "
        f"not {str(value)[:100]}."
    )
