"""Somebody at the studio in a browser who acts at random and in haste, and reads no question twice."""

from __future__ import annotations

import json
import random
from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from playwright.sync_api import Error

from tests.drills.haste_judge import Sent, fields_of
from tests.servers import Server

if TYPE_CHECKING:
    from playwright.sync_api import (
        Browser,
        Dialog,
        ElementHandle,
        FilePayload,
        Page,
        Request,
        Response,
    )

# Milliseconds that one act waits: who is in haste then does something else.
_HURRY = 4_000
_WORDS = (
    "", "Sales", "accounts", "portal", "sales-rep", "support", "name", "title", "id", "create", "telephone1",
    "42", "-1", "a b", "@user.id", '<b title="x">&amp;</b> \'"', "مرحبا بالعالم", "x" * 300,
    "ping", "my-cases",
)  # fmt: skip
# Not the studio's, or not the configuration: who is out, or has another password, can do nothing in haste.
_HANDS_OFF = (
    "logout", "/auth/", "apiaccount", "apikey", "proposalkey", "password_change", "two-factor", "sign-in",
    "/protection/", "providerregistration", "/document/", ".csv", ".json", "javascript:", "mailto:",
)  # fmt: skip
_LISTS = ("endpoint", "endpoint", "endpoint", "role", "module", "exposedentity", "userproperty", "optionset")
# Fields that hold a name or a path.
_NAMES = (
    "[name=segment], [name=name], [name=attribute], [name=title], [name$='-name']:not([name*=__prefix__]), "
    "[name=entity_segment]"
)
_PICK = """([selector, at, forbidden]) => {
  const found = [...document.querySelectorAll(selector)].filter(one => {
    if (one.disabled || one.readOnly || !one.checkVisibility({visibilityProperty: true})) return false;
    const box = one.getBoundingClientRect();
    if (!box.width || !box.height) return false;
    const form = one.form || one.closest('form');
    const where = (one.getAttribute('href') || '') + ' ' + ((form && form.getAttribute('action')) || '');
    if (one.matches('a')) {
      if (one.origin !== location.origin || !one.pathname.startsWith('/admin/')) return false;
      if (one.target === '_blank' || one.hasAttribute('download')) return false;
    }
    return !forbidden.some(word => where.includes(word));
  });
  return found.length ? found[Math.floor(at * found.length)] : null;
}"""
_FIELDS = (
    "textarea, input:not([type]), input[type=text], input[type=search], input[type=number], input[type=url], "
    "input[type=date], input[type=time], input[type=datetime-local]"
)
_SAVES = "[name=_save], [name=_continue], [name=_addanother], #content form [type=submit]"
_YES = (
    "button[name=confirmed], button[name=digest], form:has(input[name=post][value=yes]) [type=submit], "
    ".studio-undo button:only-of-type"
)
_TICKS = ("_breaks", "_moves", "_opens", "_opened_access")
_ASKS = ", ".join(["button[name=confirmed]", "button[name=digest]", *(f"[name={name}]" for name in _TICKS)])


class Hands:
    """A person in a browser of their own. What they do is random, and always the same for one `chance`."""

    def __init__(
        self,
        browser: Browser,
        server: Server,
        account: str,
        width: int,
        chance: random.Random,
        log: deque[str],
    ) -> None:
        self.account = account
        self.acts: Counter[str] = Counter()
        self.answers: Counter[str] = Counter()
        self.sent: list[Sent] = []
        self.faults: list[str] = []
        self._chance = chance
        self._log = log
        self._url = server.url
        self._context = browser.new_context(viewport={"width": width, "height": 900})
        self._context.set_default_timeout(_HURRY)
        self.page = self._context.new_page()
        self._pages: list[str] = ["/admin/"]
        self._document: dict[str, Any] | None = None
        self._requests: dict[Request, Sent] = {}
        self._acts_to_come: list[str] = []
        self._pressed = ""
        self._watch(self.page)
        self._log_in()
        self._pages = self._known_pages()

    def _watch(self, page: Page) -> None:
        page.on("dialog", self._dialog)
        page.on("pageerror", lambda error: self._fault(f"script error: {error.message}: {error.stack}"))
        page.on("request", self._request)
        page.on("response", self._response)
        page.on("requestfailed", self._failed)
        self._context.on("page", lambda other: other.close())

    # What the browser tells.

    def _fault(self, what: str) -> None:
        self.faults.append(f"{self.account} at {urlsplit(self.page.url).path}: {what}")

    def _dialog(self, dialog: Dialog) -> None:
        yes = self._chance.random() < 0.6
        self._note("dialog", f"{dialog.type} {'accepted' if yes else 'dismissed'}")
        if yes:
            dialog.accept()
        else:
            dialog.dismiss()

    def _request(self, request: Request) -> None:
        if request.method != "POST":
            return
        body = request.post_data_buffer
        content_type = request.headers.get("content-type", "")
        # The browser does not tell what it sends with a file: the button's name has to do.
        fields = (
            {self._pressed: [""]} if body is None else fields_of(body.decode(errors="replace"), content_type)
        )
        sent = Sent(self.account, urlsplit(request.url).path, fields)
        self.sent.append(sent)
        self._requests[request] = sent

    def _response(self, response: Response) -> None:
        path = urlsplit(response.url).path
        self.answers[f"{response.request.method} {response.status}"] += 1
        if sent := self._requests.pop(response.request, None):
            sent.is_answered = True
        if response.status >= 500:
            self._fault(f"{response.request.method} {path} was answered {response.status}")
        elif response.status >= 400 and response.request.resource_type in ("script", "stylesheet"):
            self._fault(f"{path} was answered {response.status}")

    def _failed(self, request: Request) -> None:
        self.answers["broken off"] += 1
        why = request.failure or ""
        if request.resource_type == "script" and "ERR_ABORTED" not in why:
            self._fault(f"{urlsplit(request.url).path} was not loaded: {why}")

    # What they do.

    def act(self) -> None:
        """Do one thing. What the browser refuses (nothing there, covered, gone meanwhile) is no fault."""
        if self._chance.random() < 0.7 and self._is_asked():
            self._try("answer", self._answer)
            return
        if not self._acts_to_come:
            # As cards from a pack: whatever comes rarely comes, too.
            self._acts_to_come = [name for name, weight in _WEIGHTS.items() for _ in range(weight)]
            self._chance.shuffle(self._acts_to_come)
        name = self._acts_to_come.pop()
        self._try(name, getattr(self, f"_{name}"))

    def settle(self) -> None:
        """Wait until what was sent is answered, and leave."""
        self._quietly(lambda: self.page.wait_for_load_state("networkidle", timeout=_HURRY))

    def hear(self) -> None:
        """Let the browser tell what it has sent."""
        self._quietly(lambda: self.page.wait_for_timeout(100))

    def close(self) -> None:
        self._context.close()

    def _try(self, name: str, do: Callable[[], str]) -> None:
        try:
            what = do()
        except Error as error:
            what = f"interrupted: {error.message.splitlines()[0][:120]}"
            self.acts["interrupted"] += 1
        self.acts[name] += 1
        self._note(name, what)
        if self._chance.random() < 0.8:
            self._quietly(lambda: self.page.wait_for_load_state("load"))
            if self._quietly(lambda: self.page.locator("[name=username]").count() > 0):
                self._log_in()

    def _quietly(self, do: Callable[[], Any]) -> Any:
        try:
            return do()
        except Error:
            return None

    def _note(self, name: str, what: str) -> None:
        self._log.append(f"{self.account}: {name} {what} [{self.page.url.removeprefix(self._url)[:120]}]")

    def _log_in(self) -> None:
        if self.page.url == "about:blank":
            self._go("/admin/")
        for _attempt in range(5):
            self._quietly(self._fill_login)
            if self._quietly(lambda: self.page.locator("[name=username]").count()) == 0:
                return
            self._quietly(lambda: self._go("/admin/"))

    def _fill_login(self) -> None:
        # By its names: the language may be any.
        self.page.fill("[name=username]", self.account)
        self.page.fill("[name=password]", "demo")
        with self.page.expect_navigation(wait_until="load", timeout=30_000):
            self.page.press("[name=password]", "Enter")

    def _known_pages(self) -> list[str]:
        """The addresses of the sidebar and of the palette."""
        hrefs: list[str] = self.page.eval_on_selector_all(
            "#nav-sidebar a[href]", "all => all.map(a => a.pathname + a.search)"
        )
        for words in ("a", "e", "new", "s", "account"):
            found = self._context.request.get(f"{self._url}/admin/palette/?q={words}").json()
            hrefs += [entry["link"] for entry in found["entries"]]
        return sorted({href for href in hrefs if href.startswith("/admin/") and not _is_off(href)})

    def _go(self, path: str, until: Any = "commit") -> None:
        self.page.goto(self._url + path, wait_until=until)

    def _pick(self, selector: str) -> ElementHandle | None:
        chosen = [selector, self._chance.random(), list(_HANDS_OFF)]
        return self.page.evaluate_handle(_PICK, chosen).as_element()

    def _press(self, element: ElementHandle, **options: Any) -> None:
        self._pressed = element.get_attribute("name") or ""
        element.click(no_wait_after=True, timeout=1_500, **options)

    def _open(self) -> str:
        path = self._chance.choice(self._pages)
        self._go(path)
        return path

    def _link(self) -> str:
        element = self._pick("a[href]")
        if element is None:
            return "none"
        where = str(element.get_attribute("href"))
        self._press(element)
        return where[:100]

    def _type(self) -> str:
        element = self._pick(_FIELDS)
        return "nowhere" if element is None else self._write(element)

    def _write(self, element: ElementHandle) -> str:
        word = self._chance.choice(_WORDS)
        name = element.get_attribute("name")
        if element.get_attribute("type") in (None, "text", "search", "url"):
            element.fill(word, timeout=1_500)
        else:
            element.focus()
            self.page.keyboard.insert_text(word)
        if self._chance.random() < 0.2:
            self.page.keyboard.press(self._chance.choice(("Enter", "Tab", "ArrowDown", "Escape")))
        return f"{name}: {word[:30]!r}"

    def _choose(self) -> str:
        element = self._pick("select")
        if element is None:
            return "nowhere"
        count = int(element.evaluate("one => one.options.length"))
        if not count:
            return "of none"
        index = self._chance.randrange(count)
        element.select_option(index=index, timeout=1_500)
        return f"{element.get_attribute('name')}: option {index}"

    def _tick(self) -> str:
        element = self._pick("input[type=checkbox], input[type=radio]")
        if element is None:
            return "none"
        name = element.get_attribute("name")
        self._press(element, force=True)
        return str(name)

    def _button(self) -> str:
        element = self._pick("button, input[type=submit], input[type=button], summary")
        return "none" if element is None else self._press_somehow(element)

    def _save(self) -> str:
        element = self._pick(_SAVES)
        return "none" if element is None else self._press_somehow(element)

    def _press_somehow(self, element: ElementHandle) -> str:
        """Press once; or twice at once, or leave the page at once."""
        text = " ".join(str(element.text_content() or element.get_attribute("value")).split())[:40]
        how = self._chance.random()
        if how < 0.75:
            self._press(element)
            return text
        if how < 0.87:
            self._pressed = element.get_attribute("name") or ""
            element.dblclick(no_wait_after=True, timeout=1_500)
            return f"{text}, twice"
        self._press(element)
        if how < 0.93:
            self.page.reload(wait_until="commit", timeout=1_500)
            return f"{text}, and reload"
        self.page.go_back(wait_until="commit", timeout=1_500)
        return f"{text}, and back"

    def _is_asked(self) -> bool:
        return bool(
            self._quietly(
                lambda: self._pick(_ASKS) is not None or self.page.locator("[name=post][value=yes]").count()
            )
        )

    def _answer(self) -> str:
        """The way back mostly, at times yes."""
        if self._chance.random() < 0.55:
            cancel = self._pick("a.cancel-link, main form a[href], .button.cancel-link")
            if cancel is not None and self._chance.random() < 0.6:
                self._press(cancel)
                return "no, by the link"
            self.page.go_back(wait_until="commit", timeout=1_500)
            return "no, back"
        ticked = 0
        for name in _TICKS:
            tick = self._pick(f"input[type=checkbox][name={name}]:not(:checked)")
            if tick is not None:
                self._press(tick, force=True)
                ticked += 1
        element = self._pick("[name=_save]" if ticked else _YES) or self._pick(_YES)
        if element is None:
            return "found no yes"
        return f"yes: {self._press_somehow(element)}"

    def _open_one(self, model: str) -> bool:
        self._go(f"/admin/designer/{model}/", "domcontentloaded")
        element = self._pick(f"a[href*='/{model}/'][href*='/change/']")
        if element is None:
            return False
        self._go(urlsplit(str(element.evaluate("one => one.href"))).path, "load")
        return True

    def _rename(self) -> str:
        model = self._chance.choice(_LISTS)
        if not self._open_one(model):
            return f"no {model}"
        element = self._pick(_NAMES)
        if element is None:
            return f"{model} without a name"
        what = self._write(element)
        return f"{model} {what}, {self._save()}"

    def _edit(self) -> str:
        """Change anything of one item, and save it at once."""
        model = self._chance.choice(_LISTS)
        if not self._open_one(model):
            return f"no {model}"
        what = [self._chance.choice((self._type, self._choose, self._tick, self._tick))() for _ in range(2)]
        return f"{model} {', '.join(what)}, {self._save()}"

    def _delete(self) -> str:
        model = self._chance.choice(_LISTS)
        if not self._open_one(model):
            return f"no {model}"
        self._go(urlsplit(self.page.url).path.replace("/change/", "/delete/"), "domcontentloaded")
        return f"{model}: {self._answer()}"

    def _import(self) -> str:
        """Send a document that was exported some time ago, and changed since."""
        if self._document is None or self._chance.random() < 0.4:
            answer = self._context.request.get(f"{self._url}/admin/export/document/")
            if "json" not in answer.headers.get("content-type", ""):
                return "nothing was exported"
            self._document = answer.json()
        document = json.loads(json.dumps(self._document))
        what = _change(document, self._chance)
        self._go("/admin/import/", "load")
        file: FilePayload = {
            "name": "own.json",
            "mimeType": "application/json",
            "buffer": json.dumps(document).encode(),
        }
        self.page.set_input_files("input[name=document]", file)
        button = self._pick("#import-form [type=submit], #import-form button")
        if button is not None:
            self._press(button)
            self._quietly(lambda: self.page.wait_for_load_state("load"))
        if self._chance.random() < 0.5 and (later := self._pick("button[name=later]")) is not None:
            self._press(later)
            self._quietly(lambda: self.page.wait_for_load_state("load"))
        if self._chance.random() < 0.5 and (yes := self._pick("button[name=digest]")) is not None:
            return f"{what}, {self._press_somehow(yes)}"
        return what

    def _undo(self) -> str:
        element = self._pick(".studio-undo button")
        return "nothing offered" if element is None else self._press_somehow(element)

    def _cell(self) -> str:
        if "/matrix/" not in self.page.url:
            self._go("/admin/matrix/", "domcontentloaded")
        element = self._pick("button[name=cell]")
        return (
            "none"
            if element is None
            else f"matrix {element.get_attribute('value')} {self._press_somehow(element)}"
        )

    def _back(self) -> str:
        self.page.go_back(wait_until="commit", timeout=1_500)
        return ""

    def _forward(self) -> str:
        self.page.go_forward(wait_until="commit", timeout=1_500)
        return ""

    def _reload(self) -> str:
        self.page.reload(wait_until="commit", timeout=1_500)
        return ""

    def _lose_login(self) -> str:
        # Between a page and its scripts no login ends: the admin's own scripts need it, too.
        self.page.wait_for_load_state("load")
        self._context.clear_cookies()
        return ""


_WEIGHTS = {
    "open": 4, "link": 5, "type": 7, "choose": 3, "tick": 3, "button": 6, "save": 5, "rename": 4, "edit": 5,
    "delete": 2, "import": 2, "undo": 3, "cell": 3, "back": 2, "forward": 1, "reload": 1, "lose_login": 1,
}  # fmt: skip
KINDS: Sequence[str] = (*_WEIGHTS, "answer")


def _is_off(href: str) -> bool:
    return any(word in href for word in _HANDS_OFF)


def _change(document: dict[str, Any], chance: random.Random) -> str:
    """Change one thing: an endpoint's name, an input, or who may call."""
    endpoint = chance.choice(document["endpoints"])
    what = chance.choice(("rename", "input", "grant", "nothing"))
    if what == "rename":
        name = "name" if "name" in endpoint else "title"
        endpoint[name] = f"{endpoint.get(name) or 'one'}{chance.randrange(10)}"
    elif what == "input" and endpoint.get("inputs"):
        endpoint["inputs"].pop(chance.randrange(len(endpoint["inputs"])))
    elif what == "grant" and document.get("roles"):
        access = endpoint.setdefault("access", {})
        role = chance.choice(document["roles"])["name"]
        access["roles"] = sorted({*access.get("roles", ()), role})
    return f"{what} {endpoint['kind']} {endpoint.get('name', '')}"
