"""Who may call."""

from __future__ import annotations

from designer.readiness.registry import Found, blocking, warning
from designer.readiness.subjects import EndpointSubject
from designer.sentences import Sentence as _


@blocking("role-unknown")
def roles_exist(subject: EndpointSubject) -> Found:
    """Find roles of the endpoint that do not exist."""
    for role in subject.definition.access.roles:
        if role not in subject.surroundings.roles:
            yield _("There is no role “%(role)s”.", role=role), "roles"


@blocking("roles-without-authentication")
def roles_need_authentication(subject: EndpointSubject) -> Found:
    """Find roles that have no effect, because callers need no token."""
    access = subject.definition.access
    if access.roles and not access.authentication_required:
        yield (
            _("Roles are chosen, but anyone may call: require authentication, or take the roles out."),
            "roles",
        )


@warning("anonymous-write")
def writing_is_guarded(subject: EndpointSubject) -> Found:
    """Find endpoints that write for callers without a token."""
    access = subject.definition.access
    # Where roles are chosen, nobody means that, and `roles-without-authentication` says so once.
    if subject.endpoint.kind.writes and not access.authentication_required and not access.roles:
        sentence = _(
            "Anyone may write through this endpoint, without a token. Require a token unless you mean that."
        )
        yield sentence, "authentication_required"
