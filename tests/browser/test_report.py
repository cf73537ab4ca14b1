"""The report in a real browser."""

import re

import matplotlib

matplotlib.use("Agg")

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from pertinent.demo import explain_applicants

from .conftest import new_page

#: Rows that the report lists, of a few more.
COUNT = 40


@pytest.fixture(scope="module")
def report(tmp_path_factory, credit):
    result = explain_applicants(credit, COUNT + 20)
    path = tmp_path_factory.mktemp("report") / "report.html"
    return result.report(path, max_rows=COUNT)


def opened(browser, report, scheme="light", width=1200):
    """Return the page, opened from its file; any request elsewhere is an error."""
    page = new_page(browser, color_scheme=scheme, viewport={"width": width, "height": 900})
    foreign = []
    page.on("request", lambda r: foreign.append(r.url) if r.url.startswith("http") else None)
    page.on("pageerror", lambda error: pytest.fail(str(error)))
    page.goto(report.as_uri())
    assert not foreign
    return page


def test_axe_finds_nothing_serious(browser, report):
    page = opened(browser, report)
    row = page.locator(".rows details").first
    row.locator("summary").click()
    expect(row.locator(".p-strips li").first).to_be_visible()
    for width in (1200, 360):
        page.set_viewport_size({"width": width, "height": 900})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            found = Axe().run(page).response["violations"]
            serious = [v for v in found if v["impact"] in ("serious", "critical")]
            assert not serious, [(v["id"], v["nodes"][0]["html"]) for v in serious]


def test_search_and_filters(browser, report):
    page = opened(browser, report)
    count = page.locator(".rows details").count()
    assert count == COUNT
    page.fill("#p-find", "part-time")
    fewer = page.locator(".rows details:not(.none)").count()
    assert 0 < fewer < count
    assert f"{fewer} of {COUNT} shown" in page.inner_text("#p-shown")
    page.fill("#p-find", "")
    page.select_option("#p-class", label="“refused”")
    assert 0 < page.locator(".rows details:not(.none)").count() < count


def test_a_row_draws_its_picture_when_opened(browser, report):
    page = opened(browser, report)
    row = page.locator(".rows details").first
    assert row.locator(".p-strips").count() == 0
    row.locator("summary").click()
    # A row tells that it was opened by an event that comes later: "toggle" is queued.
    expect(row.locator(".p-strips li").first).to_be_visible()
    expect(row).to_contain_text("Certificate of what was enough")


def test_a_phone_need_not_scroll_sideways(browser, report):
    page = opened(browser, report, width=360)
    row = page.locator(".rows details").first
    row.locator("summary").click()
    expect(row.locator(".p-strips li").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_print(browser, report, tmp_path):
    page = opened(browser, report)
    page.fill("#p-find", "3005")
    pdf = page.pdf()
    assert pdf.startswith(b"%PDF")
    assert len(pdf) > 10_000


def test_without_javascript_everything_can_be_read(browser, report):
    context = browser.new_context(java_script_enabled=False)
    page = new_page(context)
    page.goto(report.as_uri())
    assert page.locator(".find").is_hidden()
    page.locator(".rows details summary").first.click()
    expect(page.locator(".rows details").first).to_contain_text("What was enough")


def test_rows_can_be_sorted(browser, report):
    page = opened(browser, report)
    first = page.locator(".rows details summary").first.inner_text()
    page.select_option("#p-order", label="change, largest first")
    assert page.locator(".rows details summary").first.inner_text() != first
    page.select_option("#p-order", label="the order of the table")
    assert page.locator(".rows details summary").first.inner_text() == first
    assert page.locator(".rows details").count() == COUNT


def test_one_case_is_printed_on_one_page(browser, report):
    page = opened(browser, report)
    page.evaluate("window.print = () => {}")  # no dialog
    row = page.locator(".rows details").nth(4)
    row.locator("summary").click()
    row.get_by_role("button", name="Print this case").click()
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf())) == 1


def test_paper_has_the_histogram_and_no_word_about_what_is_not_there(browser, report):
    page = opened(browser, report)
    page.emulate_media(media="print")
    bar = "getComputedStyle(document.querySelector('.bars li')).printColorAdjust"
    assert page.evaluate(bar) == "exact"
    assert page.locator("#p-listed").is_visible()
    page.evaluate("document.body.classList.add('alone')")
    assert page.locator("#p-listed").is_hidden()
