"""Reading a file from any byte on, in pieces, with no transaction open in between."""

from __future__ import annotations

from crmbox.engine.connection import read_unit
from crmbox.engine.records.retrieve import retrieve
from crmbox.files.columns import file_column
from crmbox.files.stores import block_store
from crmclient.errors import InvalidRecord, OutOfRange
from crmclient.values import Download, FileInfo, Guid


def download(
    alias: str, entity: str, record: Guid, attribute: str, start: int, length: int | None
) -> Download | None:
    """Raises as `Platform.download`; InvalidRecord for a range that begins behind the file's end.

    FileLost is raised here, and not once the answer is on its way.
    """
    with read_unit(alias) as unit:
        file_column(unit.snapshot.entity(entity), attribute)
        info = retrieve(unit, entity, record, (attribute,)).values[attribute]
    if not isinstance(info, FileInfo):
        return None
    if not 0 <= start <= info.size or (length is not None and length < 0):
        raise InvalidRecord(entity, [OutOfRange(attribute, f"The file has {info.size} bytes.")])
    available = info.size - start
    wanted = available if length is None else min(length, available)
    return Download(info, start, wanted, block_store(alias).read(info.id, info.size, start, wanted))
