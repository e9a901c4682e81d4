"""Walks through pages of the studio in Chromium and says what is wrong with each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from axe_playwright_python.base import AXE_SCRIPT  # type: ignore[import-untyped]

from tests.browser import PATIENCE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page

DESK, LAPTOP, TELEPHONE = (1440, 900), (1024, 768), (390, 844)
_WCAG = {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}
# Beside the rules of WCAG, what lets a screen reader find its way.
_LANDMARKS = {
    name: {"enabled": True}
    for name in ("landmark-one-main", "landmark-no-duplicate-main", "landmark-unique", "page-has-heading-one")
}
MOST_COVERED = 0.1
CONTRAST = {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}
# To judge contrast takes axe-core longer than all else. It follows from what is painted: a text, and the
# backgrounds that it lies on. A text that is painted like one that was passed is of its sort, and left out.
# A text that stands out of a background is of another sort than one that lies on it, and so is what may lie
# over something else, by what it is.
_JUDGE = """async ([rules, without, passed]) => {
    const sorts = new Map(), chains = new Map(), known = new Set(passed), text = document.createRange();
    const chain = (node) => {
        if (!node) return { words: "", boxes: [] };
        if (chains.has(node)) return chains.get(node);
        const above = chain(node.parentElement), style = getComputedStyle(node);
        const { backgroundColor, backgroundImage, opacity, filter, mixBlendMode } = style;
        const { position, transform } = style;
        const paint = [backgroundColor, backgroundImage, opacity, filter, mixBlendMode].join(" ");
        const paints = paint !== "rgba(0, 0, 0, 0) none 1 none normal";
        const isOver = ["absolute", "fixed", "sticky"].includes(position) || transform !== "none";
        const own = isOver ? `|${position} ${node.tagName} ${node.getAttribute("class")}` : "";
        const found = {
            words: above.words + own + (paints ? `|${paint}` : ""),
            boxes: paints ? [...above.boxes, node.getBoundingClientRect()] : above.boxes,
        };
        chains.set(node, found);
        return found;
    };
    for (const node of document.body.querySelectorAll("*")) {
        node.removeAttribute("data-is-alike");
        const said = [...node.childNodes].filter((one) => one.nodeType === Node.TEXT_NODE && one.data.trim());
        if (!said.length || !node.checkVisibility({ visibilityProperty: true })) continue;
        text.selectNodeContents(node);
        const { left, right, top, bottom } = text.getBoundingClientRect();
        const { words, boxes } = chain(node);
        const isOn = boxes.map((box) => box.left <= left + 1 && box.right >= right - 1
            && box.top <= top + 1 && box.bottom >= bottom - 1);
        const { color, fontSize, fontWeight, textShadow, webkitTextFillColor, webkitTextStroke } =
            getComputedStyle(node);
        const own = [color, fontSize, fontWeight, textShadow, webkitTextFillColor, webkitTextStroke];
        const isShort = said.map((one) => one.data.trim()).join("").length < 2;
        sorts.set(node, [words, ...own, ...isOn, isShort].join("|"));
    }
    const judge = async (rules) => {
        const results = await axe.run(
            document,
            { runOnly: rules, rules: without, preload: false, reporter: (raw, _, done) => done(raw) },
        );
        const [contrast] = results.filter(({ id }) => id === "color-contrast");
        for (const { node, any } of contrast?.passes ?? []) {
            // What cannot be seen is passed as well, without a ratio.
            if (any.some(({ data }) => data?.contrastRatio)) known.add(sorts.get(node.element));
        }
        const problems = [];
        for (const { id, violations } of results) {
            for (const { node } of violations) {
                if (id !== "target-size" || await isTooSmall(node.element)) {
                    problems.push(`${id}: ${node.source.slice(0, 160)}`);
                }
            }
        }
        return problems;
    };
    // What lies half below a bar at the window's edge is as large as it is elsewhere: the middle tells.
    const isTooSmall = async (element) => {
        element.scrollIntoView({ block: "center", behavior: "instant" });
        const again = await axe.run(element, { runOnly: { type: "rule", values: ["target-size"] } });
        return again.violations.length > 0;
    };
    axe.configure({ rules: [{ id: "color-contrast", selector: ":not([data-is-alike])" }] });
    const seen = new Set(known), rest = [];
    for (const [node, sort] of sorts) {
        if (seen.has(sort)) {
            node.setAttribute("data-is-alike", "");
            rest.push(node);
        }
        seen.add(sort);
    }
    const found = await judge(rules);
    // Where the first of a sort was not passed, all others of it are judged.
    const unsure = rest.filter((node) => !known.has(sorts.get(node)));
    if (unsure.length) {
        document.body.querySelectorAll("*").forEach((node) => node.setAttribute("data-is-alike", ""));
        unsure.forEach((node) => node.removeAttribute("data-is-alike"));
        found.push(...await judge({ type: "rule", values: ["color-contrast"] }));
    }
    document.querySelectorAll("[data-is-alike]").forEach((node) => node.removeAttribute("data-is-alike"));
    return [found, [...known]];
}"""
# Colours that are still on their way to others are no colours to be judged.
_DARKEN = """() => {
    document.documentElement.classList.add("dark");
    document.getAnimations().forEach((animation) => animation.finish());
}"""
# Sizes that are still on their way to others are no sizes to be judged, either.
_STILL = "* { transition: none !important; animation: none !important; }"
# The innermost elements that stand out of the window, and are not scrolled by themselves.
_TOO_WIDE = """() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    const out = [...document.body.querySelectorAll("*")].filter((node) => {
        const { left, right, width } = node.getBoundingClientRect();
        const isOut = width && (right > clientWidth + 1 || left < -1);
        return isOut && !node.closest(".studio-scroll, .overflow-x-auto");
    });
    const inner = out.filter((node) => ![...node.children].some((child) => out.includes(child)));
    return [`${scrollWidth} pixels`, ...inner.slice(0, 3).map((node) => node.outerHTML.slice(0, 160))];
}"""


# Cells of tables whose text lies over their neighbour, or beyond the table.
_STICKING_OUT = """() => [...document.querySelectorAll(".studio-page :is(td, th)")]
    .filter((node) => node.scrollWidth > node.clientWidth + 1)
    .filter((node) => getComputedStyle(node).overflowX === "visible")
    .map((node) => `sticks out of its cell: ${node.outerHTML.slice(0, 160)}`)"""
# Fields, boxes and switches whose edge stands out of what is around them by less than 3 to 1 (WCAG 1.4.11).
# Cells of the grid of inputs have no edge of their own: lines and heads tell where they are.
_FAINT = """() => {
    const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const painted = (colours) => {
        canvas.clearRect(0, 0, 1, 1);
        for (const colour of colours) {
            canvas.fillStyle = colour;
            canvas.fillRect(0, 0, 1, 1);
        }
        const parts = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map((part) => part / 255);
        const [red, green, blue] = parts.map((part) =>
            part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const behind = (node) => node
        ? [...behind(node.parentElement), getComputedStyle(node).backgroundColor]
        : [document.documentElement.classList.contains("dark") ? "black" : "white"];
    const isFaint = (node) => {
        const { borderTopColor, borderTopWidth, borderTopStyle, backgroundColor } = getComputedStyle(node);
        const isSwitch = node.type === "checkbox" && node.matches(".rounded-full");
        const edge = isSwitch ? backgroundColor : borderTopColor;
        if (!isSwitch && (borderTopStyle === "none" || borderTopWidth === "0px")) return false;
        const around = behind(node.parentElement);
        const [dark, bright] = [painted(around), painted([...around, edge])].sort((one, two) => one - two);
        return (bright + 0.05) / (dark + 0.05) < 3;
    };
    return [...document.querySelectorAll("input, select, textarea, .select2-selection")]
        .filter((node) => !node.matches("[type=hidden], :disabled") && !node.closest(".studio-grid-cell")
            // A field whose focus is shown has another edge, and a native box is drawn by the browser.
            && node !== document.activeElement && !node.matches("[type=checkbox]:not([class])")
            && node.checkVisibility({ visibilityProperty: true }) && node.getBoundingClientRect().width > 1)
        .filter(isFaint)
        .map((node) => `faint edge: ${node.outerHTML.slice(0, 160)}`);
}"""
# Buttons of the studio's own pages that lie over one another.
_OVERLAPPING = """() => {
    const buttons = [...document.querySelectorAll(".studio-page :is(button, .studio-button)")]
        .filter((node) => node.checkVisibility({ visibilityProperty: true }))
        .map((node) => [node, node.getBoundingClientRect()]);
    return buttons.flatMap(([node, one], at) => buttons.slice(at + 1).filter(([, other]) => {
        const width = Math.min(one.right, other.right) - Math.max(one.left, other.left);
        const height = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
        return width > 1 && height > 1;
    }).map(([other]) => `${node.outerHTML.slice(0, 120)} and ${other.outerHTML.slice(0, 120)} overlap`));
}"""
# The share of the window that stays covered while the page is scrolled.
_COVERED = """() => {
    window.scrollTo(0, document.documentElement.scrollHeight / 2);
    const { innerWidth, innerHeight } = window;
    const stuck = [...document.body.querySelectorAll("*")].filter((node) => {
        const { position, visibility, top, bottom } = getComputedStyle(node);
        if (visibility === "hidden" || !["fixed", "sticky"].includes(position)) return false;
        const area = node.getBoundingClientRect();
        // What scrolls inside of something else, or has not been scrolled so far, covers nothing of the page.
        return position === "fixed"
            || (top !== "auto" && Math.abs(area.top - parseFloat(top)) <= 1)
            || (bottom !== "auto" && Math.abs(innerHeight - area.bottom - parseFloat(bottom)) <= 1);
    });
    const outer = stuck.filter((node) => !stuck.some((other) => other !== node && other.contains(node)));
    return outer.map((node) => {
        const { left, right, top, bottom } = node.getBoundingClientRect();
        const width = Math.min(right, innerWidth) - Math.max(left, 0);
        const height = Math.min(bottom, innerHeight) - Math.max(top, 0);
        const share = Math.max(width, 0) * Math.max(height, 0) / innerWidth / innerHeight;
        return [share, node.outerHTML.slice(0, 160)];
    });
}"""


def unreachable(page: Page, *, is_covered: bool = False) -> list[str]:
    """What axe-core finds by the rules of WCAG 2.2 A and AA: on a desk and a telephone, in light and in dark.

    What is partly covered, by what has opened over it, is not too small for that.
    """
    without = {"target-size": {"enabled": False}} if is_covered else {}
    page.evaluate(AXE_SCRIPT)
    problems = [f"in light, {one}" for one in judged(page, _WCAG, without)]
    page.evaluate(_DARKEN)
    return problems + [f"in dark, {one}" for one in judged(page, CONTRAST)]


def judged(page: Page, rules: dict[str, Any], without: dict[str, Any] | None = None) -> list[str]:
    """What axe-core, which the page must have loaded, finds by these rules on a desk and on a telephone."""
    problems = []
    for width, height in (DESK, TELEPHONE):
        page.set_viewport_size({"width": width, "height": height})
        problems += [f"{width} pixels wide, {one}" for one in _judged(page, rules, without or {})]
    return problems


# The sorts of text that axe-core has passed on the pages so far.
_passed: set[str] = set()


def _judged(page: Page, rules: dict[str, Any], without: dict[str, Any]) -> list[str]:
    problems: list[str]
    problems, passed = page.evaluate(_JUDGE, [rules, without, list(_passed)])
    _passed.update(passed)
    return problems


def leave_out(page: Page, selector: str) -> None:
    """What has been judged on another page. Hidden, for other elements may name it."""
    page.evaluate(
        "(selector) => document.querySelector(selector)?.style.setProperty('display', 'none')", selector
    )


def too_wide(page: Page) -> list[str]:
    """The windows in which the page would be scrolled sideways."""
    problems = []
    for width, height in (DESK, LAPTOP, TELEPHONE):
        page.set_viewport_size({"width": width, "height": height})
        problems += [f"too wide for {width} pixels: {one}" for one in page.evaluate(_TOO_WIDE)]
        problems += [f"{width} pixels wide, {one}" for one in page.evaluate(_STICKING_OUT)]
    return problems


def faint(page: Page) -> list[str]:
    """The fields and boxes that nobody finds who sees little contrast."""
    found: list[str] = page.evaluate(_FAINT)
    return found


def found_in_grid(page: Page, *, is_dark: bool) -> list[str]:
    """What is wrong with the page in one colour scheme, at each of the widths."""
    page.evaluate(AXE_SCRIPT)
    page.add_style_tag(content=_STILL)
    if is_dark:
        page.evaluate(_DARKEN)
    problems = []
    for width, height in (TELEPHONE, LAPTOP, DESK):
        page.set_viewport_size({"width": width, "height": height})
        wrong = _judged(page, _WCAG, _LANDMARKS) + page.evaluate(_TOO_WIDE)
        wrong += page.evaluate(_OVERLAPPING) + page.evaluate(_FAINT)
        problems += [f"{width} pixels wide, {one}" for one in wrong]
    return problems


def covering(page: Page) -> list[str]:
    """What stays on a telephone's screen while the page scrolls, where that is more than a tenth of it."""
    width, height = TELEPHONE
    page.set_viewport_size({"width": width, "height": height})
    stuck: list[tuple[float, str]] = page.evaluate(_COVERED)
    return [f"covers {share:.0%}: {node}" for share, node in stuck if sum(s for s, _ in stuck) > MOST_COVERED]


class Walk:
    """One browser, logged in with a session; `noise` is what its console said and whom it asked elsewhere."""

    def __init__(self, page: Page, url: str) -> None:
        self.page, self.noise = page, list[str]()
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.noise.append(f"error: {error}"))
        page.on("request", lambda asked: self._asked(asked.url, url))

    def to(self, address: str) -> Page:
        self.page.goto(address)
        return self.page

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.noise.append(f"{message.type}: {message.text}")

    def _asked(self, asked: str, own: str) -> None:
        if not asked.startswith((own, "data:", "blob:")):
            self.noise.append(f"asks {asked}")


@contextmanager
def walk(chromium: Browser, url: str, cookies: dict[str, str]) -> Iterator[Walk]:
    width, height = DESK
    context = chromium.new_context(viewport={"width": width, "height": height})
    held: list[Any] = [
        {"name": name, "value": value, "url": f"{url}/admin/"} for name, value in cookies.items()
    ]
    context.set_default_timeout(PATIENCE)
    context.add_cookies(held)
    yield Walk(context.new_page(), url)
    context.close()
