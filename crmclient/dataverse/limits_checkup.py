"""Checks the version of an organisation, and what is left of the limits of each application user."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from crmclient.dataverse.advice import advice_on
from crmclient.dataverse.checkup import Outcome, Step
from crmclient.dataverse.http.budget import BOUNDLESS, BudgetUse, Limits, ReportedBudget, ReportsBudget
from crmclient.dataverse.options import API_VERSION
from crmclient.errors import MissingPrivilege, PlatformError
from crmclient.optional_abilities import TellsVersion
from crmclient.sentences import Sentence

_SCARCE: Final = 0.4
"""The part of a limit that must be left for the step to be good.

A third is kept free for other groups, so with less than that the check itself is refused.
"""

_NUMBERS: Final = re.compile(r"(\d{1,9})\.(\d{1,9})(?:\.\d{1,9})*", re.ASCII)


def check_version(platform: TellsVersion) -> Iterator[Step]:
    """Compare the organisation's version with the one of the Web API that is asked for. Yield a step."""
    try:
        version = platform.version()
    except PlatformError as error:
        yield Step(
            "version",
            Outcome.WARNING,
            Sentence("Unknown: the organisation does not tell its version. %(reason)s", reason=str(error)),
            # Nobody needs a privilege for it, so a refusal has another reason, and no name of one.
            Sentence("Look up the version in the Power Platform admin center.")
            if isinstance(error, MissingPrivilege)
            else advice_on(error),
        )
        return
    match = _NUMBERS.fullmatch(version)
    if match is None:
        yield Step(
            "version",
            Outcome.WARNING,
            Sentence(
                "Unknown: the organisation's version is not a version number: %(version)s", version=version
            ),
        )
    elif (int(match[1]), int(match[2])) < tuple(map(int, API_VERSION.split("."))):
        yield Step(
            "version",
            Outcome.FAILED,
            Sentence(
                "The organisation has version %(version)s. The service needs Web API %(needed)s.",
                version=version,
                needed=API_VERSION,
            ),
            Sentence("Update the organisation to version %(needed)s or later.", needed=API_VERSION),
        )
    else:
        yield Step(
            "version",
            Outcome.GOOD,
            Sentence(
                "The organisation has version %(version)s, and Web API %(needed)s is used.",
                version=version,
                needed=API_VERSION,
            ),
        )


def check_budget(platform: ReportsBudget, client_ids: Sequence[str]) -> Iterator[Step]:
    """Tell for each application user what is left of its limits. Asks nothing: requests before have told.

    `client_ids` are in the order in which the budget counts the users.
    """
    limits = platform.budget.limits
    for number, (client_id, use) in enumerate(zip(client_ids, platform.budget.use_of_users(), strict=True)):
        reported = platform.last_reported_budget(number)
        said = Sentence(
            "%(client)s: %(kept)s %(told)s",
            client=client_id,
            kept=_kept_in_words(use, limits),
            told=_told_in_words(reported),
        )
        if _is_scarce(use, reported, limits):
            yield Step(
                "budget",
                Outcome.WARNING,
                said,
                Sentence("Add application users in CRM_CLIENTS, or cache answers of endpoints."),
            )
        else:
            yield Step("budget", Outcome.GOOD, said)


def _kept_in_words(use: BudgetUse, limits: Limits) -> Sentence:
    """Return the sentence about what the service itself has counted, and the limits that it keeps to."""
    if limits.requests >= BOUNDLESS and limits.work >= BOUNDLESS:
        return Sentence("The service keeps to no limit (CRM_BUDGET).")
    return Sentence(
        "As far as this process knows, %(used)s of %(requests)s requests and %(spent)s of %(work)s seconds "
        "of work are used in %(window)s seconds (CRM_BUDGET).",
        used=f"{use.used_requests:,.0f}",
        requests=_limit_in_words(limits.requests),
        spent=f"{sum(use.work.values()):,.0f}",
        work=_limit_in_words(limits.work),
        window=f"{limits.window:,.0f}",
    )


def _limit_in_words(limit: float) -> str:
    return "∞" if limit >= BOUNDLESS else f"{limit:,.0f}"


def _told_in_words(reported: ReportedBudget) -> Sentence:
    """Return the sentence about what the platform said last."""
    if reported.requests is None or reported.work is None:
        return Sentence("Dataverse does not say what is left.")
    return Sentence(
        "Dataverse says that %(requests)s requests and %(work)s seconds are left.",
        requests=f"{reported.requests:,.0f}",
        work=f"{reported.work:,.0f}",
    )


def _is_scarce(use: BudgetUse, reported: ReportedBudget, limits: Limits) -> bool:
    """Return whether little is left of a limit, by the service's account or by what the platform said."""
    own = (
        (limits.requests - use.used_requests) / limits.requests,
        (limits.work - sum(use.work.values())) / limits.work,
    )
    # What the platform tells is for all processes; `limits` may be those of one.
    whole = limits.requests * limits.processes, limits.work * limits.processes
    told = [
        left / limit
        for left, limit in zip((reported.requests, reported.work), whole, strict=True)
        if left is not None and limit < BOUNDLESS
    ]
    return min(*own, *told) < _SCARCE
