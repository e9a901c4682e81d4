"""People who sign in to the studio at the tests' identity provider."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import unescape
from typing import Any
from urllib.parse import urljoin

import requests
from django.test import Client

from tests.identity_provider import PATIENCE, SECRET, IdentityProvider, client

HERE = "http://testserver"
CALLBACK = f"{HERE}/admin/sign-in/callback/"
GROUPS = {"crm-admins": ("Administrator",), "crm-team": ("Designer", "Publisher"), "crm-readers": ("Viewer",)}


def studio_client(here: str = HERE, **values: Any) -> dict[str, Any]:
    """The studio, as the provider knows it."""
    redirects, after_logout = [f"{here}/admin/sign-in/callback/"], [f"{here}/admin/login/"]
    return {**client("studio", redirects=redirects, after_logout=after_logout), **values}


def provider_settings(provider: IdentityProvider) -> dict[str, Any]:
    """The studio's settings for `provider`, as `project.environment` reads them."""
    return {
        "STUDIO_OIDC_ISSUER": provider.issuer,
        "STUDIO_OIDC_CLIENT_ID": "studio",
        "STUDIO_OIDC_CLIENT_SECRET": SECRET,
        "STUDIO_OIDC_NAME": "Contoso",
        "STUDIO_OIDC_GROUPS": GROUPS,
        "STUDIO_OIDC_CONTACT": "help@contoso.example",
    }


@dataclass
class Person:
    """A browser: the studio's cookies in `studio`, the provider's in `elsewhere`."""

    user: str
    studio: Client = field(default_factory=Client)
    elsewhere: requests.Session = field(default_factory=requests.Session)

    def sign_in(self, target: str = "", **more: str) -> Any:
        """The studio's answer at the end of a whole sign-in."""
        return self.come_back(self.at_provider(self.begin(target, **more)))

    def begin(self, target: str = "", **more: str) -> str:
        """The address that the studio hands the browser over to."""
        answer = self.studio.post("/admin/sign-in/", {"next": target, **more})
        assert answer.status_code == 200, answer.content
        return handed_over(answer)

    def at_provider(self, address: str) -> str:
        """The address at which the provider sends the browser back."""
        address += f"&login_hint={self.user}"
        for _ in range(10):
            answer = self.elsewhere.get(address, allow_redirects=False, timeout=PATIENCE)
            assert answer.is_redirect, answer.text
            address = urljoin(answer.url, answer.headers["Location"])
            if address.startswith(HERE):
                return address
        raise AssertionError(address)

    def come_back(self, address: str) -> Any:
        return self.studio.get(address.removeprefix(HERE))

    def is_in(self) -> bool:
        return bool(self.studio.get("/admin/").status_code == 200)


def handed_over(answer: Any) -> str:
    """Where a page leads on to by itself."""
    match = re.search(r'http-equiv="refresh" content="0;url=([^"]+)"', answer.content.decode())
    assert match, answer.content
    return unescape(match[1])


def text_of(answer: Any) -> str:
    """What a page says, without its tags."""
    body = answer.content.decode().partition("<body")[2]
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", body)))
