"""The list of rows, its filters, and the cohorts."""

from __future__ import annotations

import json
import re
from urllib.parse import quote

import numpy as np
from playwright.sync_api import expect

from .conftest import new_page, settle


def test_filters_sort_and_random(opened, credit):
    page = opened("#row=4")
    page.get_by_role("button", name="Rows", exact=True).click()
    status = page.locator("#rows [role=status]")
    expect(status).to_have_text(f"{len(credit.applicants):,} rows")
    view = page.locator("#view-rows")
    view.get_by_label("Filter on").select_option(label="job")
    view.get_by_label("Value").select_option(label="part-time")
    view.get_by_role("button", name="Add filter").click()
    view.get_by_label("Filter on").select_option(label="age")
    view.get_by_label("How").select_option(label="at most")
    view.get_by_label("Value").fill("30")
    view.get_by_role("button", name="Add filter").click()
    view.get_by_label("Filter on").select_option(label="predicted class")
    view.get_by_label("Value").select_option(label="refused")
    view.get_by_role("button", name="Add filter").click()
    frame = credit.applicants.reset_index(drop=True)
    refused = credit.model.predict(frame) == "refused"
    wanted = np.flatnonzero((frame["job"] == "part-time") & (frame["age"] <= 30) & refused)
    expect(status).to_have_text(f"{len(wanted)} rows of {len(frame):,}")
    page.get_by_label("Sort by").select_option(label="age")
    page.get_by_role("button", name="ascending").click()
    ages = page.locator(".window .line")
    expect(ages.first).to_contain_text(str(int(frame["age"][wanted].max())))
    with page.expect_download() as event:
        view.get_by_role("button", name="Report of the first 100").click()
    text = event.value.path().read_text()
    assert text.count("<details") >= min(len(wanted), 100)
    view.get_by_role("button", name="Random row").click()
    expect(page.locator("#view-case")).to_be_visible()
    assert int(page.locator("#case-id").input_value()) in wanted
    # The filters are in the address.
    assert len(json.loads(page.evaluate(
        "decodeURIComponent(/filters=([^&]*)/.exec(location.hash)[1])"
    ))) == 3  # fmt: skip


def test_rows_that_are_refused_are_not_asked_for_again_and_again(browser, server):
    page, asked = new_page(browser), []
    page.on("request", lambda request: asked.append(request.url) if "/rows?" in request.url else 0)
    page.goto(f"{server.url}#row=4&view=%22rows%22&sort=%22nothing%22")
    expect(page.locator("#rows [role=status]")).to_contain_text("is not a feature of this model")
    page.evaluate("() => new Promise((done) => { setTimeout(done, 300); })")
    assert len(asked) < 4
    page.get_by_label("Sort by").select_option(label="age")
    expect(page.locator("#row-0 .id")).to_have_text(re.compile(r"\d+"))
    page.close()


def test_the_keyboard_alone(opened):
    page = opened("#row=0")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.get_by_role("button", name="Rows", exact=True).focus()
    page.keyboard.press("Enter")
    grid = page.get_by_role("grid")
    grid.focus()
    expect(page.locator(".window .line").first).to_contain_text("refused")
    for key in ("ArrowDown", "ArrowDown", "PageDown", "End", "Home", "ArrowDown", "ArrowDown"):
        page.keyboard.press(key)
    expect(page.locator("#row-2")).to_have_attribute("aria-selected", "true")
    expect(grid).to_have_attribute("aria-activedescendant", "row-2")
    expect(page.locator("#row-2 .id")).to_have_text("2")
    page.keyboard.press("Enter")
    expect(page.locator("#case-title")).to_have_text("Applicant 2")


def test_cohorts_and_drill_down(opened, credit):
    filters = [["@class", "eq", "refused"]]
    page = opened(f"#row=4&by=%22job%22&filters={quote(json.dumps(filters))}")
    page.get_by_role("button", name="Cohorts").click()
    page.get_by_label("rows, at most").select_option("100")
    page.get_by_role("button", name="Compare").click()
    page.wait_for_selector(".groups")
    refused = credit.model.predict(credit.applicants) == "refused"
    jobs = credit.applicants["job"][refused].nunique()
    expect(page.locator(".groups tbody tr")).to_have_count(jobs)
    expect(page.get_by_role("heading", name="The gap between")).to_be_visible()
    group = page.locator(".members").first
    group.locator("summary").click()
    name = group.locator("summary").inner_text()
    group.get_by_role("button", name="Show the rows of").click()
    job = name.split("“")[1].split("”")[0]
    count = int((refused & (credit.applicants["job"] == job)).sum())
    expect(page.locator("#rows [role=status]")).to_contain_text(f"{count} rows of")
    page.go_back()
    page.locator(".members").first.locator("li button").first.click()
    settle(page)
    expect(page.locator("#view-case")).to_be_visible()


def test_a_million_rows(browser, serving):
    """The list asks for and draws what is in sight only, also at the last row."""
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    rows = rng.normal(size=(1_000_000, 5))
    model = LogisticRegression().fit(rows[:2000], rows[:2000] @ [1, -1, 0.5, 0, 2] > 0)
    with serving(model, rows[:2000], rows) as server:
        page = new_page(browser, viewport={"width": 1280, "height": 900})
        sent: list[int] = []
        page.on("response", lambda r: sent.append(int(r.headers.get("content-length", 0))))
        page.goto(f"{server.url}#view=%22rows%22")
        expect(page.locator("#row-0 .id")).to_have_text("0")
        page.get_by_role("grid").focus()
        page.keyboard.press("End")
        expect(page.locator("#row-999999 .id")).to_have_text("999999")
        assert len(sent) > 5
        assert sum(sent) < 1_000_000  # a million rows are tens of megabytes
        assert page.locator(".window .line").count() < 40
        page.get_by_role("grid").evaluate("(view) => { view.scrollTop = view.scrollHeight / 2; }")
        middle = page.locator(".window .line").nth(3)
        expect(middle.locator(".id")).to_have_text(re.compile(r"[45]\d{5}"))
        page.close()
