"""Hands on a keyboard, without a mouse, and a mark at whatever has the focus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.servers import Server

if TYPE_CHECKING:
    from playwright.sync_api import Page

# What has the focus is called; and whether it shows: by itself, or by what is around it.
_FOCUSED = """() => {
    const node = document.activeElement;
    const heard = node.cloneNode(true);
    heard.querySelectorAll("[aria-hidden=true]").forEach((icon) => icon.remove());
    const own = node.matches("body, select, textarea") ? "" : heard.textContent;
    const ids = (node.getAttribute("aria-labelledby") || "").split(" ");
    const labels = ids.map((id) => document.getElementById(id)?.innerText);
    const texts = [node.getAttribute("aria-label"), ...labels, node.labels?.[0]?.innerText, own, node.title];
    const name = texts.map((text) => text?.trim()).find(Boolean) || node.tagName;
    const isMarked = (one) => {
        const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(one);
        return (outlineStyle !== "none" && parseFloat(outlineWidth) > 0) || boxShadow !== "none";
    };
    const around = [node, node.parentElement, node.parentElement?.parentElement];
    return [name, around.some((one) => one && isMarked(one))];
}"""
_CHOSEN = "() => document.activeElement.selectedOptions?.[0]?.text.trim() ?? ''"
MOST = 250


class Keys:
    """Hands on a keyboard, without a mouse."""

    def __init__(self, page: Page) -> None:
        self._page, self._keys = page, page.keyboard
        self.unseen: list[str] = []

    def press(self, *keys: str) -> None:
        for key in keys:
            self._keys.press(key)

    def type(self, text: str) -> None:
        self._keys.type(text)

    def choose(self, option: str) -> None:
        """Types the beginning of an option of the list that has the focus."""
        for _ in range(3):
            self.type(option)
            if self._page.evaluate(_CHOSEN).startswith(option):
                return
            # Letters that come a second late begin another word. So long without one, and all are forgotten.
            self._page.wait_for_timeout(1500)
        raise AssertionError(f"“{option}” is not chosen, but “{self._page.evaluate(_CHOSEN)}”")

    def focused(self) -> str:
        name, shown = self._page.evaluate(_FOCUSED)
        # A page that has just been opened is all of it where one stands.
        if not shown and name != "BODY":
            self.unseen.append(name)
        return str(name)

    def go_to(self, wanted: str, by: str = "Tab") -> None:
        """Moves on until something whose name begins with `wanted` has the focus: it may have it already."""
        passed = [self.focused()]
        while not passed[-1].startswith(wanted) and len(passed) < MOST:
            self.press(by)
            passed.append(self.focused())
        if passed[-1].startswith(wanted):
            return
        raise AssertionError(f"{by} never comes to “{wanted}”, only to {passed}")

    def stays(self, wanted: str) -> None:
        """Waits until what is drawn anew has given the focus to something whose name begins with `wanted`."""
        self._page.wait_for_function(f"wanted => ({_FOCUSED})()[0].startsWith(wanted)", arg=wanted)
        self.focused()

    def find(self, words: str) -> None:
        """Opens a page from the command palette."""
        self.press("Control+k")
        self._page.locator("#studio-palette-list a").first.wait_for()
        self.type(words)
        self._page.locator("#studio-palette-list li").first.filter(has_text=words).wait_for()
        with self._page.expect_navigation():
            self.press("Enter")

    def skip(self) -> None:
        """Past the sidebar."""
        self.press("Tab")
        assert self.focused() == "Skip to the page"
        self.press("Enter")
        self.focused()
        assert self._page.evaluate("() => document.activeElement.id") == "content"

    def follow(self) -> None:
        with self._page.expect_navigation():
            self.press("Enter")


def signed_in(server: Server, page: Page) -> Keys:
    """In the studio, as designer."""
    keys = Keys(page)
    page.goto(server.url + "/admin/")
    keys.go_to("Username")
    keys.type("designer")
    keys.go_to("Password")
    keys.type("demo")
    keys.follow()
    return keys
