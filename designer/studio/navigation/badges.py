"""The readiness of an endpoint as a badge: a word and a sign, not a colour alone."""

from __future__ import annotations

from collections.abc import Iterable

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from designer.readiness import Finding, State, state_of

_BADGES = {
    State.READY: ("✔", _("Ready")),
    State.DRAFT: ("✎", _("Draft")),
    State.DEGRADED: ("▲", _("Degraded")),
    State.BLOCKED: ("✖", _("Blocked")),
}


def badge(enabled: bool, findings: Iterable[Finding]) -> SafeString:
    """Return the badge of an endpoint as HTML. Its tooltip says what the findings say, each of it once."""
    all_findings = list(findings)
    state = state_of(enabled, all_findings)
    sign, word = _BADGES[state]
    return format_html(
        '<span class="readiness readiness-{}" title="{}"><span aria-hidden="true">{}</span> {}</span>',
        state.value,
        " ".join(dict.fromkeys(finding.said for finding in all_findings)),
        sign,
        word,
    )


def sign_of(state: State) -> tuple[str, str]:
    """Return the sign of a state, and the word for those who cannot see it."""
    sign, word = _BADGES[state]
    return sign, str(word)
