"""Uploads in several requests: what has come so far waits in a folder of its own until it is complete.

A session's token is signed and says what the upload is for; nothing is kept in the process. Sessions that
nobody ends are swept away a day later.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import BinaryIO, Final

from django.conf import settings
from django.core import signing

from crmbox.webapi.errors import WebApiError, bad_payload
from crmclient.values import Guid

CHUNK: Final = 4 * 1024 * 1024
"""Bytes of a chunk, as Dataverse asks for."""

ABANDONED_AFTER: Final = 24 * 60 * 60
"""Seconds."""
_SALT: Final = "crmclient.embedded.webapi.files.sessions"


@dataclass(frozen=True, slots=True)
class Session:
    """An upload to the column `attribute` of a record on behalf of `user`.

    `id` names its folder. It is empty until `begin` gives one.
    """

    entity: str
    record: Guid
    attribute: str
    user: Guid
    file_name: str
    content_type: str = ""
    id: str = ""

    @property
    def token(self) -> str:
        return signing.dumps(asdict(self), salt=_SALT, compress=True)

    @property
    def folder(self) -> Path:
        return _folder() / self.id

    @property
    def content(self) -> Path:
        """The file with the content that has come so far."""
        return self.folder / "content"

    @property
    def is_open(self) -> bool:
        return self.folder.is_dir()

    def write(self, offset: int, piece: BinaryIO) -> int:
        """Write `piece` at `offset` in bytes, cut off what stood behind it, and return the new size in bytes.

        Raises WebApiError when `offset` is behind the end of the content.
        """
        with self.content.open("r+b") as target:
            if offset > target.seek(0, os.SEEK_END):
                raise bad_payload(f"The chunk begins at {offset}, behind the end of what has come.")
            target.truncate(offset)
            target.seek(offset)
            shutil.copyfileobj(piece, target)
            return target.tell()

    def write_block(self, name: str, content: bytes) -> None:
        self._block(name).write_bytes(content)

    def join(self, names: Sequence[str]) -> None:
        """Put the content together from blocks, in this order. Raises WebApiError for a missing block."""
        with self.content.open("wb") as target:
            for name in names:
                block = self._block(name)
                if not block.is_file():
                    raise bad_payload(f"The block '{name}' has not been uploaded.")
                with block.open("rb") as source:
                    shutil.copyfileobj(source, target)

    def described(self, file_name: str, content_type: str) -> Session:
        """Return the session with the name and type that the client gives the file at the end of the
        upload.
        """
        return replace(self, file_name=file_name, content_type=content_type)

    def end(self) -> None:
        """End the session: remove all that has come of the upload."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _block(self, name: str) -> Path:
        """Return the file of a block. Its name is the client's, and may be anything: so it is hashed."""
        return self.folder / hashlib.sha256(name.encode()).hexdigest()


def begin(session: Session) -> Session:
    """Start a session: give it an id and a folder. Also remove abandoned sessions."""
    _sweep()
    begun = replace(session, id=str(uuid.uuid4()))
    begun.folder.mkdir(parents=True)
    begun.content.touch()
    return begun


def resume(token: str, user: Guid) -> Session:
    """Return the session of a token.

    Raises WebApiError for a wrong or expired token, and for another user.
    """
    try:
        session = Session(**signing.loads(token, salt=_SALT, max_age=ABANDONED_AFTER))
    except (signing.BadSignature, TypeError):
        raise WebApiError(400, "0x80040203", "The upload session's token is wrong or has expired.") from None
    if session.user != user:
        raise WebApiError(403, "0x80040220", "The upload session is another user's.")
    return session


def _folder() -> Path:
    """Return the folder that has a folder for each session; it may not exist yet."""
    return Path(settings.PORTICO["UPLOAD_FOLDER"] or tempfile.gettempdir()) / "portico-crm-uploads"


def _sweep() -> None:
    """Remove the folders of sessions that nothing has been written to for ABANDONED_AFTER seconds."""
    folder, limit = _folder(), time.time() - ABANDONED_AFTER
    for path in folder.iterdir() if folder.is_dir() else ():
        # Another request may have ended the session since its folder was listed.
        with suppress(FileNotFoundError):
            if path.stat().st_mtime < limit:
                shutil.rmtree(path, ignore_errors=True)
