"""Files by messages: blocks up and down, for clients that do not address the column itself."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from django.core import signing

from crmbox.models import File
from crmbox.webapi.base64_bodies import encoded
from crmbox.webapi.errors import bad_payload, invalid_argument
from crmbox.webapi.files.file_uploads import put
from crmbox.webapi.files.names import ANY_TYPE
from crmbox.webapi.files.sessions import CHUNK, Session, begin, resume
from crmbox.webapi.model import NAMESPACE
from crmbox.webapi.operations.parameters import read_record
from crmbox.webapi.request import Request, Response, json_response, no_content
from crmbox.webapi.routing import named
from crmclient.metadata import Attribute
from crmclient.values import FileInfo, Guid

_SALT = "crmclient.embedded.webapi.files.messages"
_LIFETIME = 24 * 60 * 60
"""Seconds that a token for a download is good for."""


@named("InitializeFileBlocksUpload", "POST")
def begin_upload(request: Request) -> Response:
    """Begin an upload in blocks, and answer with the token that names it."""
    body = request.json()
    record = read_record(request, body.get("Target"), "Target")
    attribute = _column(request, record.entity, body.get("FileAttributeName"))
    # The result is not used: this raises RecordNotFound.
    request.platform.retrieve(record.entity, record.id, (), call=request.call)
    name = _text(body, "FileName")
    session = begin(
        Session(
            entity=record.entity,
            record=record.id,
            attribute=attribute.logical_name,
            user=request.user,
            file_name=name,
        )
    )
    return _answer(request, "InitializeFileBlocksUpload", {"FileContinuationToken": session.token})


@named("UploadBlock", "POST")
def upload_block(request: Request) -> Response:
    """Keep one block of an upload, under the id that the client gives it, until the upload is committed."""
    body = request.json()
    session = _session(request, body)
    block = _text(body, "BlockId")
    try:
        content = base64.b64decode(_text(body, "BlockData"), validate=True)
    except (binascii.Error, ValueError):
        raise bad_payload("'BlockData' must be base64.") from None
    if len(content) > CHUNK:
        raise invalid_argument(f"A block has at most {CHUNK} bytes.")
    session.write_block(block, content)
    return no_content()


@named("CommitFileBlocksUpload", "POST")
def commit_upload(request: Request) -> Response:
    """Join the blocks of an upload, in the order of the body, and write them as the file."""
    body = request.json()
    session = _session(request, body)
    blocks = body.get("BlockList")
    if not isinstance(blocks, list):
        raise bad_payload("'BlockList' must be an array of block ids.")
    session.join([str(block) for block in blocks])
    described_session = session.described(_text(body, "FileName"), str(body.get("MimeType") or ANY_TYPE))
    attribute = _column(request, session.entity, session.attribute)
    with session.content.open("rb") as content:
        info = put(request, attribute, described_session, content)
    session.end()
    return _answer(request, "CommitFileBlocksUpload", {"FileId": info.id, "FileSizeInBytes": info.size})


@named("InitializeFileBlocksDownload", "POST")
def begin_download(request: Request) -> Response:
    """Answer with the description of a file, and with a token to read its blocks by."""
    body = request.json()
    record = read_record(request, body.get("Target"), "Target")
    attribute = _column(request, record.entity, body.get("FileAttributeName"))
    info = _info(request, record.entity, record.id, attribute.logical_name)
    token = signing.dumps([record.entity, record.id, attribute.logical_name, info.id], salt=_SALT)
    return _answer(
        request,
        "InitializeFileBlocksDownload",
        {
            "FileContinuationToken": token,
            "FileSizeInBytes": info.size,
            "FileName": info.file_name,
            "IsChunkingSupported": True,
        },
    )


@named("DownloadBlock", "POST")
def download_block(request: Request) -> Response:
    """Answer with a block of a file as base64. Raises WebApiError when the file has been replaced."""
    body = request.json()
    try:
        entity, id, attribute, file = signing.loads(
            _text(body, "FileContinuationToken"), salt=_SALT, max_age=_LIFETIME
        )
    except (signing.BadSignature, ValueError):
        raise invalid_argument("The FileContinuationToken is wrong or has expired.") from None
    if _info(request, entity, id, attribute).id != file:
        raise invalid_argument("The file has been replaced meanwhile: begin its download again.")
    start, length = _whole_number(body, "Offset"), min(_whole_number(body, "BlockLength"), CHUNK)
    block = request.platform.download(entity, id, attribute, start=start, length=length, call=request.call)
    data = b"" if block is None else b"".join(encoded(block.chunks))
    return _answer(request, "DownloadBlock", {"Data": data.decode("ascii")})


@named("DeleteFile", "POST")
def delete_file(request: Request) -> Response:
    """Delete a file by its id alone, as Dataverse does."""
    file = File.objects.filter(id=_text(request.json(), "FileId").lower(), attached=True).first()
    if file is None:
        raise invalid_argument("There is no file with this FileId.")
    request.platform.update(file.entity, file.record, {file.attribute: None}, call=request.call)
    return no_content()


def _session(request: Request, body: dict[str, Any]) -> Session:
    """Return the upload that the token in a body names. Raises WebApiError if it has ended."""
    session = resume(_text(body, "FileContinuationToken"), request.user)
    if not session.is_open:
        raise invalid_argument("The upload session has ended.")
    return session


def _column(request: Request, entity: str, name: object) -> Attribute:
    """Return the file or image column `name` of an entity. Raises WebApiError for any other name."""
    attribute = request.model.entity_type(entity).attributes.get(str(name))
    if attribute is None or not attribute.type.holds_file:
        raise invalid_argument(f"'{name}' is no file column of {entity}.")
    return attribute


def _info(request: Request, entity: str, id: Guid, attribute: str) -> FileInfo:
    """Return the description of the file in a column of a record. Raises WebApiError for an empty column."""
    info = request.platform.retrieve(entity, id, [attribute], call=request.call).values[attribute]
    if not isinstance(info, FileInfo):
        raise invalid_argument(f"No file attachment found for attribute: {attribute} EntityId: {id}.")
    return info


def _text(body: dict[str, Any], name: str) -> str:
    """Return the text of a parameter. Raises WebApiError if it is missing, empty or no text."""
    value = body.get(name)
    if not isinstance(value, str) or not value:
        raise bad_payload(f"'{name}' must be a text.")
    return value


def _whole_number(body: dict[str, Any], name: str) -> int:
    """Return the whole number of a parameter, from 0 on. Raises WebApiError for anything else."""
    value = body.get(name)
    if type(value) is not int or value < 0:
        raise bad_payload(f"'{name}' must be a whole number.")
    return value


def _answer(request: Request, message: str, content: dict[str, Any]) -> Response:
    """Answer with the outputs of a message, by name."""
    context_url = f"{request.base}$metadata#{NAMESPACE}.{message}Response"
    return json_response({"@odata.context": context_url, **content})
