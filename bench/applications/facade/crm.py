"""The Web API: one session a thread, a token until it ends, time-outs, and errors as DRF's exceptions."""

from __future__ import annotations

import os
import threading
import time
from typing import Any

import requests
from rest_framework.exceptions import APIException, NotFound

BASE = os.environ["BENCH_CRM_URL"] + "/api/data/v9.2/"
TOKENS = os.environ["BENCH_CRM_URL"] + "/tenant/oauth2/v2.0/token"
CLIENT = {"grant_type": "client_credentials", "client_id": "portico-demo", "client_secret": "demo"}
HEADERS = {"Accept": "application/json", "OData-MaxVersion": "4.0", "OData-Version": "4.0"}
ANNOTATED = {"Prefer": 'odata.include-annotations="OData.Community.Display.V1.FormattedValue"'}
TIMEOUT = (5, 20)
EARLY = 60

_local = threading.local()
_lock = threading.Lock()
_token = ("", 0.0)


class CrmFailed(APIException):
    status_code = 502
    default_code = "platform_error"
    default_detail = "The CRM did not answer as it should."


class CrmBusy(APIException):
    status_code = 503
    default_code = "crm_busy"
    default_detail = "The CRM takes no more requests now."


def get(path: str, *, page_size: int = 0, **parameters: str) -> requests.Response:
    headers = {"Prefer": f"odata.maxpagesize={page_size}"} if page_size else ANNOTATED
    return _call("GET", path, params=parameters, headers=headers)


def post(path: str, body: dict[str, Any]) -> requests.Response:
    return _call("POST", path, json=body)


def patch(path: str, body: dict[str, Any]) -> requests.Response:
    return _call("PATCH", path, json=body, headers={"If-Match": "*"})


def _call(
    method: str, path: str, *, headers: dict[str, str] | None = None, **options: Any
) -> requests.Response:
    sent = {**HEADERS, **(headers or {}), "Authorization": f"Bearer {_current_token()}"}
    try:
        answer = _session().request(method, BASE + path, headers=sent, timeout=TIMEOUT, **options)
    except requests.RequestException as error:
        raise CrmFailed from error
    if answer.status_code == 404:
        raise NotFound
    if answer.status_code == 429:
        raise CrmBusy
    if not answer.ok:
        raise CrmFailed
    return answer


def _session() -> requests.Session:
    if not hasattr(_local, "session"):
        _local.session = requests.Session()
    session: requests.Session = _local.session
    return session


def _current_token() -> str:
    global _token
    with _lock:
        if _token[1] - EARLY < time.time():
            answer = _session().post(TOKENS, data=CLIENT, timeout=TIMEOUT)
            answer.raise_for_status()
            grant = answer.json()
            _token = (grant["access_token"], time.time() + grant["expires_in"])
        return _token[0]
