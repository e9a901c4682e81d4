"""The headers that say for whom a call is made."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from crmclient.errors import AccessDenied, RecordNotFound
from crmclient.platform import Call
from crmclient.values import Guid

BY_USER: Final = "MSCRMCallerID"
BY_OBJECT: Final = "CallerObjectId"
KEPT: Final = 1_000
"""So many object ids are remembered: those of the users looked up last."""

LookUp = Callable[[Guid, Call], Guid | None]
"""Looks up the object id in Entra ID of a user of Dataverse; None: the user has none."""


class Impersonation:
    """Names the caller's user by its id in Dataverse or, with `look_up`, by its object id in Entra ID.

    Object ids stay with their users, so the last ones are kept. Safe to share between threads.
    """

    def __init__(self, look_up: LookUp | None = None) -> None:
        self._look_up = look_up
        # Object ids by user. The user looked up first stands first, and is forgotten first.
        self._object_ids: OrderedDict[Guid, Guid] = OrderedDict()
        self._lock = threading.Lock()

    def headers(self, call: Call) -> Mapping[str, str]:
        """Return the headers to call as a user.

        Raises AccessDenied for a user whom Dataverse does not know.
        """
        if call.caller is None:
            return {}
        if self._look_up is None:
            return {BY_USER: call.caller}
        user_object_id = self._object_ids.get(call.caller) or self._ask(self._look_up, call.caller, call)
        # A user without an object id, such as one on premises, is still a user.
        return {BY_USER: call.caller} if user_object_id is None else {BY_OBJECT: user_object_id}

    def _ask(self, look_up: LookUp, user: Guid, call: Call) -> Guid | None:
        """Ask Dataverse for the object id of a user, and remember it.

        Raises AccessDenied for an unknown user.
        """
        try:
            user_object_id = look_up(user, replace(call, caller=None))
        except RecordNotFound:
            raise AccessDenied(f"Dataverse has no user {user}.") from None
        if user_object_id is not None:
            with self._lock:
                self._object_ids[user] = user_object_id
                while len(self._object_ids) > KEPT:
                    self._object_ids.popitem(last=False)
        return user_object_id
