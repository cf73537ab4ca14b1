"""Every view: nothing for axe to find, a phone's width, dark, on paper; nothing inline."""

from __future__ import annotations

import json
import re
from urllib.parse import quote

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from .conftest import go, new_page, settle

IMPOSSIBLE = quote(json.dumps({"frozen": ["age", "records", "price", "amount", "seniority", "job",
                                          "income", "assets"]}))  # fmt: skip
VIEWS = {
    "case": "#row=4&edits=%7B%22income%22%3A90%7D",
    "menu": "#row=4&panel=%22menu%22",
    "impossible": f"#row=4&rules={IMPOSSIBLE}",
    "rows": "#row=4&view=%22rows%22&filters=%5B%5B%22age%22%2C%22ge%22%2C30%5D%5D",
    "cohorts": "#row=4&view=%22cohorts%22",
}
PHONE, DESK = {"width": 360, "height": 740}, {"width": 1280, "height": 900}


def seen(page, name):
    """Wait until a view is drawn, and open what is folded."""
    wait = {"menu": "#menu h3", "rows": "#row-1", "cohorts": ".groups"}.get(name)
    if wait:
        page.wait_for_selector(wait)
    if name == "case":
        for button in page.get_by_role("button", name=re.compile("^Rules for (income|job)")).all():
            button.click()
    settle(page)


def violations(page):
    found = Axe().run(page).response["violations"]
    return [(one["id"], one["nodes"][0]["html"]) for one in found]


def test_axe_finds_nothing_and_a_phone_need_not_scroll_sideways(opened):
    page = opened()
    for name, fragment in VIEWS.items():
        page.emulate_media(color_scheme="dark" if name in ("menu", "rows") else "light")
        go(page, fragment)
        seen(page, name)
        assert not violations(page), name
        page.set_viewport_size(PHONE)
        page.emulate_media(color_scheme="light" if name in ("menu", "rows") else "dark")
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], name
        if name in ("case", "rows", "cohorts"):
            assert not violations(page), name
        page.set_viewport_size(DESK)
    go(page, "#row=4")
    settle(page)
    page.get_by_role("button", name="New row").click()
    page.get_by_label("or its text").fill("seniority\n1")
    assert not violations(page)
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_have_count(0)
    page.get_by_role("button", name="Letter").click()
    page.wait_for_selector("dialog.letter")
    assert not violations(page)


def test_controls_of_long_numbers_that_may_be_missing_do_not_lie_on_each_other(browser, serving):
    import numpy as np
    import pandas as pd
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    steps = np.arange(40.0)
    frame = pd.DataFrame({
        "whole": 1_034_000_000 + 199_000_007 * steps, "tiny": (steps - 17) * 1.2345e-7,
        "a name that is longer than what there is room for beside a slider": steps / 7,
    })  # fmt: skip
    model = make_pipeline(SimpleImputer(), LogisticRegression()).fit(frame / 1, steps > 20)
    with serving(model, frame) as server:
        for size in (DESK, PHONE):
            page = new_page(browser, viewport=size)
            page.goto(f"{server.url}#row=3")
            page.wait_for_selector("html[data-ready]")
            page.wait_for_selector(".missing")
            assert not overlapping(page), size
            page.close()


def overlapping(page):
    """Return pairs of parts of controls of which one covers the other, and numbers that are cut."""
    return page.evaluate("""() => [...document.querySelectorAll("[data-feature]")].flatMap((line) => {
        const parts = [...line.querySelectorAll("label, button, input[type=number], .track, .ends span")]
            .filter((one) => one.checkVisibility()).map((one) => [one, one.getBoundingClientRect()]);
        const covers = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
        return parts.flatMap(([one, a], i) => parts.slice(i + 1)
            .filter(([other, b]) => !one.contains(other) && covers(a, b))
            .map(([other]) => [line.dataset.feature, one.outerHTML.slice(0, 60), other.outerHTML.slice(0, 60)]));
    })""")  # noqa: E501


def cut(page):
    """Return what is cut off at the right of an open dialog."""
    return page.evaluate("""() => {
        const dialog = document.querySelector("dialog[open]");
        const end = dialog.getBoundingClientRect().right;
        return [...dialog.querySelectorAll("*")]
            .filter((one) => one.getBoundingClientRect().right > end)
            .map((one) => one.outerHTML.slice(0, 80));
    }""")


def test_a_phone_shows_dialogs_whole_and_the_way_to_an_answer_below(opened):
    page = opened(viewport=PHONE)
    glance = page.get_by_role("button", name="to the answer")
    expect(glance).to_be_visible()
    glance.click()
    expect(page.locator("#answer-title")).to_be_in_viewport()
    expect(glance).to_be_hidden()
    page.get_by_role("button", name="New row").click()
    page.get_by_label("or its text").fill(f"seniority,home\n1,{'castle' * 20}")
    expect(page.locator("dialog")).to_contain_text("expected one of")
    assert not cut(page)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Letter").click()
    page.wait_for_selector("dialog.letter")
    assert not cut(page)


def test_dark_and_on_paper(opened):
    page = opened("#row=4", color_scheme="dark")
    colours = page.evaluate(
        "() => { const s = getComputedStyle(document.body); return [s.color, s.backgroundColor]; }"
    )
    ink, paper = (sum(map(int, re.findall(r"\d+", one)[:3])) for one in colours)
    assert ink > 600
    assert paper < 100
    page.emulate_media(media="print")
    for gone in ("nav", "#by-id", "#tabs", "#export", ".track"):
        expect(page.locator(gone).first).to_be_hidden()
    for there in ("#prediction .class", ".strips", ".certificate", '[data-feature="income"] input'):
        expect(page.locator(there).last).to_be_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    pages = len(re.findall(rb"/Type\s*/Page\b", page.pdf()))
    assert pages <= 2
    page.emulate_media(media="screen")
    page.get_by_role("button", name="Letter").click()
    page.wait_for_selector("dialog.letter")
    page.emulate_media(media="print")
    expect(page.locator("main")).to_be_hidden()
    expect(page.locator(".paper h1")).to_be_visible()
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf())) == 1
    page.emulate_media(media="screen")
    page.keyboard.press("Escape")
    for name in ("rows", "cohorts"):  # a filter that was not added is none
        go(page, VIEWS[name])
        seen(page, name)
        page.emulate_media(media="print")
        expect(page.locator(f"#{name}-what")).to_be_hidden()
        page.emulate_media(media="screen")


#: A fragment in which every part is wrong: the page starts as without it.
GARBAGE = "#main&row=%7Bx&edits=5&view=9&rules=%5B%5D&filters=%5B1%5D&scenarios=%5B%7B%7D%5D&ask=%"


def test_nothing_inline_and_what_is_wrong_is_told(opened, server):
    page = opened(GARBAGE)
    expect(page.locator("#case-title")).to_have_text("Applicant 0")
    response = page.request.get(server.url)
    policy = response.headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    assert not re.search("<style| style=| on[a-z]+=", response.text())
    page.locator("#case-id").fill("99999")
    with page.expect_console_message() as event:
        page.get_by_role("button", name="Open", exact=True).click()
    expect(page.locator("#notice")).to_contain_text("There is no row 99999")
    assert "the server responded with a status of 404 (Not Found)" in event.value.text
    opened.expected(event.value.text)
    page.locator("#case-id").fill("7")
    page.get_by_role("button", name="Open", exact=True).click()
    expect(page.locator("#case-title")).to_have_text("Applicant 7")


#: Rules of which some part is of another type than the page reads.
BROKEN = [
    {"frozen": 5}, {"frozen": "age"}, {"frozen": [5]}, {"increase_only": {"a": 1}},
    {"bounds": [1]}, {"bounds": {"income": 5}}, {"bounds": {"income": ["a", "b"]}},
    {"categories": {"job": 5}}, {"costs": {"income": "x"}}, {"costs": {"income": None}},
    {"max_changes": "many"}, {"relations": 5}, {"together": {}}, {"transitions": 7},
]  # fmt: skip
#: Other parts of a state that are left out as well, and some that are read.
LEFT_OUT = [("edits", {"age": [1]}), ("own", {"age": {}}), ("filters", [[5, {}, None]]),
            ("scenarios", [{"name": "a", "values": {"age": []}}])]  # fmt: skip
READ = [("rules", {"bounds": {"income": [None, 9]}, "__defineGetter__": 1, "costs": {"income": 2}}),
        ("edits", {"age": None, "job": "x"}), ("filters", [["age", "missing", None]])]  # fmt: skip


def test_a_state_of_other_types_is_left_out(opened):
    page = opened()
    decode = "async (f) => (await import('/static/js/core/state.js')).decode(f)"
    start = page.evaluate(decode, "")
    wrong = [("rules", rules) for rules in BROKEN] + LEFT_OUT
    for key, value in wrong + READ:
        found = page.evaluate(decode, f"#{key}={quote(json.dumps(value))}")
        assert found == (start if (key, value) in wrong else start | {key: value}), value


HOSTILE = '<img src=x onerror="window.bad=1">'


def test_names_that_look_like_html_stay_text(browser, serving):
    import pandas as pd
    from sklearn.linear_model import LogisticRegression

    frame = pd.DataFrame(
        {HOSTILE: [0.0, 1.0, 2.0, 3.0] * 10, "a:b %3A & #": [1.0, 0.0, 2.0, 5.0] * 10}
    )
    model = LogisticRegression().fit(frame, [HOSTILE, "no", HOSTILE, "no"] * 10)
    with serving(model, frame) as server:
        page = new_page(browser)
        page.goto(f"{server.url}#filters={quote(json.dumps([['a:b %3A & #', 'ge', 1]]))}")
        page.wait_for_selector("html[data-ready]")
        settle(page)
        expect(page.locator(".feature label").first).to_have_text(HOSTILE)
        page.get_by_role("button", name="Rows", exact=True).click()
        expect(page.locator("#rows [role=status]")).to_have_text("30 rows of 40")
        assert page.evaluate("window.bad") is None
        assert page.locator("img").count() == 0
        page.close()


def test_a_token_is_asked_for(browser, credit, serving):
    token = "a-token-of-more-than-enough-characters"
    with serving(credit.model, credit.train, credit.applicants, tokens=(token,)) as server:
        page = new_page(browser)
        page.goto(server.url)
        for given in ("wrong-but-long-enough-to-be-a-token", token):
            page.locator("#token").fill(given)
            page.get_by_role("button", name="Go on").click()
        page.wait_for_selector("html[data-ready]")
        settle(page)
        expect(page.locator("dialog")).to_have_count(0)
        assert token not in page.url
        page.close()
