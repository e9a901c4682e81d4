"""Views of `/api/admin/proposals` and everything below it, where PROPOSALS_API is set."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from django.conf import settings
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from designer.audit import note_account
from designer.documents.problems import DocumentError
from designer.imports.document_import import Source
from designer.models import AuditEntry, Proposal
from designer.proposals.contents import Contents
from designer.proposals.new_proposals import replace_document
from designer.proposals.proposal_json import proposal_json, review_json
from designer.proposals.reading_secret import give_secret
from designer.proposals.value_names import document_text
from runtime.callers.keys.key_verification import OWN_ISSUER, key_in, verify_sent
from runtime.callers.refusals import RefusedCaller
from runtime.http.addresses import client_address
from runtime.http.limits import count_address, count_caller
from runtime.http.problems import FieldError, Problem, unknown_route
from runtime.http.query_string import invalid_parameters, read_parameters
from runtime.http.rendering import JSON, json_response, refuse_unacceptable
from runtime.proposals.new_proposal import NewProposal, read_document, refusal_of
from runtime.proposals.proposal_key import ProposalKey
from runtime.serving.routing import BuiltinView, add_builtin

PATH = "/api/admin/proposals"
_PER_PAGE = 100
_TRUTH_VALUES = {"true": True, "false": False}
_NOT_STORED = {"Cache-Control": "no-store"}

# A view behind its key.
_View = Callable[[HttpRequest, ProposalKey], HttpResponse]


def serve() -> None:
    """Add the routes, if PROPOSALS_API is set."""
    if settings.PORTICO["PROPOSALS_API"]:
        add_builtin(PATH, {"GET": _guarded(_list), "POST": _guarded(_open)})
        add_builtin(f"{PATH}/{{name}}", {"GET": _guarded(_review)})
        add_builtin(f"{PATH}/{{name}}/document", {"GET": _guarded(_document), "PUT": _guarded(_replace)})


def _guarded(view: _View) -> BuiltinView:
    """Return the view behind the check of the proposal key."""
    return partial(_answer_with_key, view)


def _answer_with_key(view: _View, request: HttpRequest) -> HttpResponse:
    """Answer a request whose proposal key is valid. Raises Problem 401, 406, 429, and what the view
    raises.
    """
    key = _key_of(request)
    refuse_unacceptable(request.META.get("HTTP_ACCEPT"))
    response = view(request, key)
    for name, value in _NOT_STORED.items():
        response.headers[name] = value
    return response


def _key_of(request: HttpRequest) -> ProposalKey:
    """Return the proposal key of the request, and count the request for it. Raises Problem 401, 429."""
    sent = key_in(request.META.get("HTTP_AUTHORIZATION", ""), ProposalKey)
    if sent is None:
        count_address(request)
        raise Problem(
            401,
            "authentication_required",
            "Send a proposal key: `Authorization: Bearer porticoproposal…`. The studio makes them.",
            headers={"WWW-Authenticate": "Bearer"},
        )
    try:
        key = verify_sent(ProposalKey, *sent, client_address(request))
    except RefusedCaller:
        count_address(request)
        raise
    count_caller(OWN_ISSUER, key.prefix, request)
    return key


def _list(request: HttpRequest, key: ProposalKey) -> HttpResponse:
    """Answer with a page of proposals, newest first.

    `before` is the id of the last one on the page before.
    """
    parameters = read_parameters(request, ("state", "before"))
    errors = []
    states = Proposal.State.values
    if (state := parameters.get("state")) is not None and state not in states:
        errors.append(FieldError("not_allowed", f"Must be one of: {', '.join(states)}.", parameter="state"))
    before = parameters.get("before")
    if before is not None and not _is_id(before):
        errors.append(FieldError("wrong_type", "Must be the id of a proposal.", parameter="before"))
    if errors:
        raise invalid_parameters(errors)
    # These columns are large, and the list does not show them.
    rows = Proposal.objects.defer("base", "document", "named", "earlier")
    if state is not None:
        rows = rows.filter(state=state)
    if before is not None:
        rows = rows.filter(pk__lt=int(before))
    # One more than a page tells whether there is another page.
    proposals = list(rows[: _PER_PAGE + 1])
    last_id = proposals[_PER_PAGE - 1].pk if len(proposals) > _PER_PAGE else None
    state_parameter = "" if state is None else f"state={state}&"
    return json_response(
        {
            "proposals": [proposal_json(proposal) for proposal in proposals[:_PER_PAGE]],
            "next": None if last_id is None else f"{PATH}?{state_parameter}before={last_id}",
        }
    )


def _open(request: HttpRequest, key: ProposalKey) -> HttpResponse:
    """Open a proposal. Answer 201; only this answer has the `secret`."""
    read_parameters(request, ())
    new_proposal = NewProposal.of(request)
    with transaction.atomic():
        proposal = new_proposal.open(key.account)
        secret = give_secret(proposal)
        _note_in_audit_log(request, key, proposal, "opened")
    answer = {**proposal_json(proposal), "page": _page_path(proposal), "secret": secret}
    return json_response(answer, status=201, headers={"Location": f"{PATH}/{proposal.pk}"})


def _review(request: HttpRequest, key: ProposalKey) -> HttpResponse:
    """Answer with one proposal and, while it is open, its review.

    With `calls=true`, the review has the results of the example calls, which are run for it.
    """
    parameters = read_parameters(request, ("calls",))
    if parameters.get("calls", "false") not in _TRUTH_VALUES:
        raise invalid_parameters([FieldError("not_allowed", "Must be true or false.", parameter="calls")])
    proposal = _proposal_in(request)
    review = None
    if proposal.is_open:
        try:
            review = review_json(proposal, with_calls=_TRUTH_VALUES[parameters.get("calls", "false")])
        except DocumentError as error:
            raise refusal_of(error) from error
    return json_response({**proposal_json(proposal), "page": _page_path(proposal), "review": review})


def _document(request: HttpRequest, key: ProposalKey) -> HttpResponse:
    """Answer with the document of a proposal, and note that it was read."""
    read_parameters(request, ())
    proposal = _proposal_in(request)
    try:
        document = document_text(proposal)
    except DocumentError as error:
        raise refusal_of(error) from error
    _note_in_audit_log(request, key, proposal, "read", AuditEntry.Action.EXPORT)
    return HttpResponse(document.encode(), content_type=JSON)


def _replace(request: HttpRequest, key: ProposalKey) -> HttpResponse:
    """Replace the document of a proposal that the same key has opened.

    The document stands for all of its module, or for everything: items that it does not have are removed. The
    answer names them.
    """
    read_parameters(request, ())
    proposal = _proposal_in(request)
    if proposal.account != key.account:
        raise Problem(403, "forbidden", "Only the key that has opened the proposal may change it.")
    raw = read_document(request)
    try:
        source = Source.of_document(raw)
        with transaction.atomic():
            replace_document(proposal, source, key.account)
            _note_in_audit_log(request, key, proposal, "edited")
            removed = Contents.of(proposal).removed
    except DocumentError as error:
        raise refusal_of(error) from error
    removes = [{"list": field, "key": item} for field, item in removed]
    return json_response({**proposal_json(proposal), "page": _page_path(proposal), "removes": removes})


def _proposal_in(request: HttpRequest) -> Proposal:
    """Return the proposal whose id is in the path. Raises Problem 404."""
    id = request.path_info.removeprefix(PATH).split("/")[1]
    proposal = Proposal.objects.filter(pk=int(id)).first() if _is_id(id) else None
    if proposal is None:
        raise unknown_route()
    return proposal


def _is_id(text: str) -> bool:
    """Whether a text can be the id of a proposal."""
    return text.isascii() and text.isdecimal() and len(text) <= 18


def _page_path(proposal: Proposal) -> str:
    """Return the path of the studio's page about the proposal."""
    return reverse("studio:proposal", args=[proposal.pk])


def _note_in_audit_log(
    request: HttpRequest,
    key: ProposalKey,
    proposal: Proposal,
    description: str,
    action: AuditEntry.Action = AuditEntry.Action.PROPOSAL,
) -> None:
    """Note in the audit log what a key has done with a proposal."""
    note_account(key.account, action, proposal, description, address=client_address(request))
