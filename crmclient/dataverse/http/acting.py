"""For whom a call is made: the headers that say it."""

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

ObjectId = Callable[[Guid, Call], Guid | None]


class Acting:
    """Names the caller's user by its id in Dataverse or, with `object_id`, by its object id in Entra ID.

    Object ids stay with their users, so the last ones are kept. Safe to share between threads.
    """

    def __init__(self, object_id: ObjectId | None = None) -> None:
        self._object_id = object_id
        self._known: OrderedDict[Guid, Guid] = OrderedDict()
        self._lock = threading.Lock()

    def headers(self, call: Call) -> Mapping[str, str]:
        """Raises AccessDenied for a user whom Dataverse does not know, and what asking it raises."""
        if call.caller is None:
            return {}
        if self._object_id is None:
            return {BY_USER: call.caller}
        found = self._known.get(call.caller) or self._asked(self._object_id, call.caller, call)
        # A user without an object id, such as one on premises, is still a user.
        return {BY_USER: call.caller} if found is None else {BY_OBJECT: found}

    def _asked(self, object_id: ObjectId, user: Guid, call: Call) -> Guid | None:
        try:
            found = object_id(user, replace(call, caller=None))
        except RecordNotFound:
            raise AccessDenied(f"Dataverse has no user {user}.") from None
        if found is not None:
            with self._lock:
                self._known[user] = found
                while len(self._known) > KEPT:
                    self._known.popitem(last=False)
        return found
