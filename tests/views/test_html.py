import html
import json
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import pertinent

VOID = {"meta", "input", "br", "hr", "img", "link"}


class Dom(HTMLParser):
    """Counts elements, collects ids and text, and insists that tags nest."""

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.ids, self.attributes, self.text = [], [], [], [], ""
        self.feed(page)
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def require_no_network(page):
    """Nothing is loaded: no addresses but anchors within the page."""
    for tag, name, value in Dom(page).attributes:
        if name in ("src", "href"):
            assert value.startswith("#"), (tag, value)
    assert not re.search(r"@import|url\(|https?://", page)


def test_html_is_self_contained(applicants):
    page = applicants[4].html()
    dom = Dom(page)
    require_no_network(page)
    assert dom.tags.count("style") == 1
    assert "prefers-color-scheme: dark" in page
    assert applicants[4].text().split("\n")[0] in dom.text
    assert applicants[4]._repr_html_() == page
    assert "applicants explained" in Dom(applicants._repr_html_()).text


def test_html_has_a_strip_for_each_feature_that_matters(applicants):
    summary = applicants[4].summary()
    used = {v["feature"] for part in ("positive", "negative") for v in summary[part]["values"]}
    assert Dom(applicants[4].html()).tags.count("li") == len(used)


@pytest.mark.parametrize(
    "attack", ["<script>alert(1)</script>", "</style><b>", "{{ 7*7 }}", "&amp;"]
)
def test_names_cannot_become_markup(attack, tmp_path):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 2)), columns=[attack, "other"])
    model = LogisticRegression().fit(X, np.where(X[attack] > 0, attack, "no"))
    result = pertinent.Explainer(model, data=X).explain(X.head(3))
    page = result[0].html()
    assert attack in Dom(page).text
    assert "alert(1)</script>" not in page
    report = result.report(tmp_path / "report.html").read_text(encoding="utf-8")
    dom = Dom(report)
    assert dom.tags.count("script") == 2  # our data and our code
    assert dom.tags.count("b") == 0
    assert attack in dom.text


def test_report_dom(applicants, tmp_path):
    page = applicants.report(tmp_path / "r.html", title="A title").read_text(encoding="utf-8")
    require_no_network(page)
    dom = Dom(page)
    assert dom.tags.count("details") == len(applicants)
    assert dom.tags.count("h1") == 1
    assert len(dom.ids) == len(set(dom.ids))
    assert {"model", "rules", "summary", "rows", "words", "p-find", "p-class"} <= set(dom.ids)
    labelled = {v for t, n, v in dom.attributes if t == "label" and n == "for"}
    assert {"p-find", "p-class", "p-status", "p-order"} == labelled
    assert ("html", "lang", "en") in dom.attributes
    assert any(name == "content" and "width=device-width" in value
               for tag, name, value in dom.attributes if tag == "meta")  # fmt: skip
    for words in (
        "A title",
        "LogisticRegression",
        "age, marital, bad credit record and price stay as they are",
        "Certificate of what was enough",
    ):
        assert words in dom.text
    assert "@media print" in page


def test_each_row_of_a_table_has_a_cell_under_each_heading(applicants, tmp_path):
    page = applicants.report(tmp_path / "report.html").read_text()
    tables = re.findall(r"<table.*?</table>", page, re.S)
    assert len(tables) >= 1
    for table in tables:
        rows = [
            len(re.findall(r"<t[hd][ >]", row)) for row in re.findall(r"<tr.*?</tr>", table, re.S)
        ]
        assert len(set(rows)) == 1, (rows, table[:300])


def test_a_report_tells_the_probabilities_of_each_case(applicants, tmp_path):
    page = html.unescape(applicants[:3].report(tmp_path / "report.html").read_text())
    for one in applicants[:3]:
        told = one.text().split("\n\n")[-1]
        assert told.startswith("The model's probability of")
        assert told in page


def test_report_is_deterministic(applicants, tmp_path):
    one = applicants.report(tmp_path / "1.html").read_bytes()
    assert one == applicants.report(tmp_path / "2.html").read_bytes()


def test_a_report_bears_its_date_and_fingerprints(applicants, tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    page = applicants.report(tmp_path / "r.html").read_text(encoding="utf-8")
    assert '<th scope="row">Made on</th><td>1970-01-02</td>' in page
    assert f"pertinent {pertinent.__version__}, scikit-learn" in page
    marks = re.search(r"model ([0-9a-f]{16}); explained rows ([0-9a-f]{16})<", page)
    fewer = applicants[:30].report(tmp_path / "r.html", date="May 2030", facts={"By": "<b>"})
    again = fewer.read_text(encoding="utf-8")
    assert f"model {marks[1]};" in again  # the same model, other rows
    assert marks[2] not in again
    assert "May 2030" in again
    assert '<th scope="row">By</th><td>&lt;b&gt;</td>' in again
    assert "Made on" not in applicants.report(tmp_path / "r.html", date="").read_text("utf-8")


def test_a_model_that_cannot_be_pickled_has_no_fingerprint(tmp_path):
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = LogisticRegression().fit(X, X[:, 0] > 0)
    model.note = lambda: None
    page = pertinent.Explainer(model, data=X).explain(X[:2]).report(tmp_path / "r.html")
    assert "model none (it cannot be written down)" in page.read_text(encoding="utf-8")


def test_rows_are_sorted_by_what_they_say(applicants, tmp_path):
    page = applicants.report(tmp_path / "r.html").read_text(encoding="utf-8")
    data = json.loads(re.search(r'<script id="p-data"[^>]*>(.*?)</script>', page)[1])
    assert len(data["orders"]) == len(applicants)
    for (size, changes, probability), one in zip(data["orders"], applicants, strict=True):
        negative = one.summary()["negative"]
        if negative["values"]:
            assert size == pytest.approx(negative["objective"], rel=1e-5)
        assert changes == (len(one.changed) or None)
        assert probability == pytest.approx(one.summary()["probability"]["prediction"], abs=1e-6)
    options = re.findall(r'<option value="(\d),-?1">', page)
    assert {int(place) for place in options} == set(range(len(data["orders"][0])))


def test_on_paper_a_case_has_a_page(applicants, tmp_path):
    page = applicants.report(tmp_path / "r.html").read_text(encoding="utf-8")
    paper = page[page.rindex("@media print") :]
    assert "details[open] { break-before: page;" in paper
    assert ".alone .rows details:not(.chosen)" in paper
    assert "@media print" in applicants[0].html()  # a card by itself, too


def test_a_report_looks_for_no_range_that_it_does_not_show(applicants, tmp_path, monkeypatch):
    """How far kept values may move is not listed, and was half of the work."""
    from pertinent.api import rooms

    before, asked = rooms.rooms_of, []

    def counting(*given):
        asked.append(given[-1])
        return before(*given)

    monkeypatch.setattr(rooms, "rooms_of", counting)
    some = applicants[:12]
    page = some.report(tmp_path / "r.html").read_bytes()
    assert set(asked) == {"negative"}
    assert page == some.report(tmp_path / "r.html").read_bytes()
    some.rooms([0])  # whoever asks still gets all
    assert set(asked) == {"positive", "negative", "instead"}


def test_report_lists_only_so_many_rows(applicants, tmp_path):
    page = applicants.report(tmp_path / "r.html", max_rows=5).read_text(encoding="utf-8")
    assert Dom(page).tags.count("details") == 5
    assert "The first 5 of 40 are listed" in page


def test_report_of_impossible_rows(impossible, tmp_path):
    page = impossible.report(tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Why there is none" in Dom(page).text


@pytest.mark.parametrize(
    "features", [9, *(pytest.param(many, marks=pytest.mark.slow) for many in (30, 100))]
)
def test_report_of_a_thousand_rows_is_small(features, tmp_path):
    rng = np.random.default_rng(features)
    X = rng.normal(size=(1000, features)) * 1000
    names = [f"a_rather_long_feature_name_{j}" for j in range(features)]
    frame = pd.DataFrame(X, columns=names)
    model = LogisticRegression(max_iter=300).fit(frame / 1000, X @ rng.normal(size=features) > 0)
    model.coef_ = model.coef_ / 1000
    # Bounds inside the data make every row change many features: long texts.
    rules = pertinent.Constraints(bounds={name: (-500, 500) for name in names})
    result = pertinent.Explainer(model, data=frame, constraints=rules).explain(frame)
    size = result.report(tmp_path / "r.html").stat().st_size
    assert size < 2_000_000


def test_a_feature_that_both_was_enough_and_would_change_it_says_both(applicants):
    both = next(e for e in applicants if e.summary()["overlap"])
    name = next(
        f["text"] for f in both.summary()["features"] if f["name"] == both.summary()["overlap"][0]
    )
    strip = both.html().split(f"<b>{name}</b>")[1].split("</li>")[0]
    # The own value was enough; the new one is what it would change to.
    assert 0 < strip.index("was enough") < strip.index("→")
