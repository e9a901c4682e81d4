"""One property of a record: its value, written or cleared by itself."""

from __future__ import annotations

from crmbox.webapi.base64_bodies import NOTE_BODY
from crmbox.webapi.errors import bad_payload, no_resource, unsupported
from crmbox.webapi.files.file_downloads import download, download_base64, download_json, download_thumbnail
from crmbox.webapi.files.file_uploads import upload
from crmbox.webapi.keys import locate
from crmbox.webapi.records.draft import read_draft
from crmbox.webapi.records.stored_drafts import store_changes
from crmbox.webapi.rendering import plain_value, record_url
from crmbox.webapi.request import Request, Response, json_response, no_content
from crmbox.webapi.routing import Shape, Target, on
from crmclient.metadata import Attribute, AttributeType
from crmclient.values import Value


@on(Shape.PROPERTY, "GET")
def get_property(request: Request, target: Target) -> Response:
    """Answer with the value of a property as JSON; 204 for an empty one."""
    attribute = _attribute(target)
    if _lacks_requested_full_image(request, target, attribute):
        return no_content()
    if attribute.type.holds_file:
        return download_json(request, target, attribute)
    value = _value(request, target, attribute)
    if value is None:
        return no_content()
    url = record_url(request.base, target.type, locate(request, target.type, target.key))
    context = f"{request.base}$metadata#{url.removeprefix(request.base)}/{target.name}"
    return json_response({"@odata.context": context, "value": plain_value(value)})


@on(Shape.PROPERTY_VALUE, "GET")
def get_raw_value(request: Request, target: Target) -> Response:
    """Answer with the raw value.

    The document of a note is base64 here too, as its column holds base64.
    """
    attribute = _attribute(target)
    if (target.type.name, attribute.logical_name) == NOTE_BODY:
        return download_base64(request, target, attribute)
    if _lacks_requested_full_image(request, target, attribute):
        return no_content()
    if _wants_thumbnail(request, attribute):
        return download_thumbnail(request, target, attribute)
    if attribute.type.holds_file:
        return download(request, target, attribute)
    value = _value(request, target, attribute)
    if value is None:
        return no_content()
    plain = plain_value(value)
    text = str(plain).lower() if isinstance(plain, bool) else str(plain)
    return Response(200, {"Content-Type": "text/plain; charset=utf-8"}, text.encode())


@on(Shape.PROPERTY, "PATCH")
def patch_property(request: Request, target: Target) -> Response:
    """Store the body as the file of a column, or as a part of it. Raises WebApiError for other properties."""
    attribute = _attribute(target)
    if not attribute.type.holds_file:
        raise unsupported(f"PATCH of '{target.name}', which is no file column")
    return upload(request, target, attribute)


@on(Shape.PROPERTY, "PUT")
def put_property(request: Request, target: Target) -> Response:
    """Write a property: the file that the body is, or the `value` of a JSON body."""
    attribute = _attribute(target)
    if attribute.type.holds_file and "json" not in request.headers.get("Content-Type", ""):
        return upload(request, target, attribute)
    body = request.json()
    if "value" not in body:
        raise bad_payload('The body must be {"value": …}.')
    return _write(request, target, body["value"])


@on(Shape.PROPERTY, "DELETE")
def clear_property(request: Request, target: Target) -> Response:
    return _write(request, target, None)


def _lacks_requested_full_image(request: Request, target: Target, attribute: Attribute) -> bool:
    """Return whether the full image is requested of a column that keeps only a thumbnail."""
    return (
        attribute.type is AttributeType.IMAGE
        and request.query.get("size", "").lower() == "full"
        and not target.type.stored.columns[attribute.logical_name].definition.full_image
    )


def _wants_thumbnail(request: Request, attribute: Attribute) -> bool:
    """Return whether the thumbnail of an image is requested."""
    return attribute.type is AttributeType.IMAGE and request.query.get("size", "").lower() != "full"


def _write(request: Request, target: Target, value: object) -> Response:
    """Write the property in the path, as a value of JSON. None empties it."""
    id = locate(request, target.type, target.key)
    draft = read_draft(request, target.type, {_attribute(target).logical_name: value}, creating=False)
    # `If-Match: *` asks for any version.
    version = request.if_match
    store_changes(request, draft, id, if_version=None if version == "*" else version)
    return no_content()


def _value(request: Request, target: Target, attribute: Attribute) -> Value:
    """Return the value of an attribute of the record in the path."""
    id = locate(request, target.type, target.key)
    name = attribute.logical_name
    return request.platform.retrieve(target.type.name, id, [name], call=request.call).values[name]


def _attribute(target: Target) -> Attribute:
    """Return the attribute of the property in the path. Raises WebApiError 404 for an unknown name."""
    attribute = target.type.properties.get(target.name)
    if attribute is None:
        raise no_resource(target.name)
    return attribute
