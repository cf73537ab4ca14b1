"""One case in the page: choose it, edit it, ask for a change, keep it. What the page shows is
compared with what the library says of the same values."""

from __future__ import annotations

import json
import re
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import expect

import pertinent
from pertinent.demo import RULES, WORDING

from .conftest import new_page, settle

ALONE = "Loan amount 763 thousand pesetas or less instead of 1,078."


def part(**state):
    """Return the fragment of a state."""
    return "#" + "&".join(f"{key}={quote(json.dumps(value))}" for key, value in state.items())


def state_of(page):
    """Return the state that the address holds."""
    # The address is written 150 ms later; timers of a page are kept in their order.
    page.evaluate("() => new Promise((done) => { setTimeout(done, 200); })")
    return page.evaluate(
        """() => Object.fromEntries(location.hash.slice(1).split("&").filter(Boolean).map((one) => {
            const [key, ...rest] = one.split("=");
            return [key, JSON.parse(decodeURIComponent(rest.join("=")))];
        }))"""
    )


def feature(page, name):
    return page.locator(f'[data-feature="{name}"]')


def values_of(page):
    """Return the values of the form, as the controls show them."""
    return page.evaluate("""() => Object.fromEntries([...document.querySelectorAll("[data-feature]")].map((line) => {
        const input = line.querySelector("input[type=number]");
        const select = line.querySelector(".control select");
        return [line.dataset.feature, input ? input.valueAsNumber : select.selectedOptions[0].textContent];
    }))""")  # noqa: E501


@pytest.fixture(scope="module")
def explainer(credit):
    return pertinent.Explainer(credit.model, data=credit.train, constraints=RULES, wording=WORDING)


def chance(credit, row, label):
    return float(credit.model.predict_proba(row)[0][list(credit.model.classes_).index(label)])


def test_the_walk(opened, credit, explainer):
    page = opened("#row=4")
    row = credit.applicants.iloc[[4]].copy()
    own = explainer.explain(row)[0]

    # What the page says is what the library says.
    expect(page.locator("#prediction .class")).to_have_text(own.prediction)
    before = chance(credit, row, own.prediction)
    expect(page.locator("#prediction .chance")).to_have_text(f"probability {before:.0%}")
    expect(page.locator(".card.change")).to_contain_text(ALONE)
    assert own.changed == {"amount": (1078, 763)}
    expect(page.locator(".card.enough")).to_contain_text("Job “part-time”")
    expect(page.locator(".before-after")).to_contain_text("50.01%")
    expect(page.locator(".certificate")).to_contain_text("no valid answer is smaller")

    # The picture has the own value, the typical one, the range that keeps the class, the change.
    strip = page.locator(".strips li").first
    expect(strip).to_contain_text("1,078 → 763")
    for mark in (".own", ".typical", ".room.target", ".move", ".head", ".usual"):
        expect(strip.locator(f"svg {mark}")).to_have_count(1)
    at = [float(strip.locator(f"svg {m}").get_attribute(a).strip("%")) for m, a in
          ((".own", "cx"), (".typical", "x"))]  # fmt: skip
    assert at[0] > at[1]  # 1,078 is more than the typical 1,000

    # Set the value that was suggested: the class changes, and the library agrees.
    page.get_by_role("button", name="Set this value: loan amount 763").click()
    settle(page)
    expect(page.locator("#prediction .class")).to_have_text("approved")
    row["amount"] = 763
    assert credit.model.predict(row)[0] == "approved"
    expect(page.locator(".card.change")).to_contain_text("loan amount 764", ignore_case=True)
    expect(feature(page, "amount")).to_contain_text("was 1,078")

    # The address holds it all: another page shows the same.
    state = state_of(page)
    assert state == {"row": 4, "edits": {"amount": 763}}
    other = opened(part(**state))
    assert values_of(other) == values_of(page)
    expect(other.locator("#prediction .class")).to_have_text("approved")

    # Back goes back.
    page.get_by_role("button", name="Undo the edit of loan amount").click()
    settle(page)
    expect(page.locator("#prediction .class")).to_have_text("refused")
    assert state_of(page) == {"row": 4}


def test_each_control_edits_its_value(opened, credit):
    page = opened("#row=4")
    row = credit.applicants.iloc[[4]].copy()
    number = feature(page, "income").locator("input[type=number]")
    number.fill("300.5")
    number.press("Enter")
    feature(page, "seniority").get_by_role("button", name="one step more").click()
    feature(page, "home").locator("select").select_option("owner")
    slider = feature(page, "time").locator("input[type=range]")
    slider.focus()
    slider.press("ArrowRight")
    slider.press("PageUp")
    page.locator('[data-feature="debt"] input[type=range]').evaluate(
        "(bar) => { bar.value = 1234.4; bar.dispatchEvent(new Event('input')); }"
    )
    settle(page)
    edits = {"income": 300.5, "seniority": 2, "home": "owner", "time": 59, "debt": 1230}
    assert state_of(page)["edits"] == edits
    for name, value in edits.items():
        row[name] = row[name].astype(object if isinstance(value, str) else float)
        row[name] = value
    label = credit.model.predict(row)[0]
    expect(page.locator("#prediction .class")).to_have_text(label)
    expect(page.locator("#prediction .won .n")).to_have_text(f"{chance(credit, row, label):.0%}")
    expect(page.get_by_text("5 values edited")).to_be_visible()
    # A whole number is needed where the data have only such, and nothing is asked before.
    whole = feature(page, "seniority").locator("input[type=number]")
    whole.fill("2.5")
    whole.press("Enter")
    assert whole.evaluate("(field) => field.validationMessage") == "A whole number is needed."
    assert state_of(page)["edits"] == edits
    page.get_by_role("button", name="Undo all edits").click()
    settle(page)
    assert state_of(page) == {"row": 4}
    # Behind a slider is the distribution of the served rows.
    bars = (
        feature(page, "age")
        .locator(".histogram rect")
        .evaluate_all("(bars) => bars.map((bar) => parseFloat(bar.getAttribute('height')))")
    )
    counts, _ = np.histogram(credit.applicants["age"], bins=len(bars))
    assert np.argmax(bars) == np.argmax(counts)


def test_rules_are_clicks_and_a_line_to_copy(opened, credit, explainer):
    page = opened("#row=4")
    page.get_by_role("button", name="Lock loan amount").click()
    settle(page)
    feature(page, "seniority").get_by_role("button", name="Rules for seniority").click()
    feature(page, "seniority").get_by_label("only down").check()
    feature(page, "income").get_by_role("button", name="Rules for income").click()
    feature(page, "income").get_by_label("to", exact=True).fill("90")
    feature(page, "income").get_by_label("to", exact=True).press("Tab")
    feature(page, "income").get_by_label("A change costs").select_option("2")
    feature(page, "job").get_by_role("button", name="Rules for job").click()
    feature(page, "job").get_by_label("fixed").uncheck()
    page.get_by_label("Changes at most").select_option("3")
    settle(page)
    line = page.locator(".line code").inner_text()
    rules = eval(line, {"Constraints": pertinent.Constraints})
    assert set(rules.frozen) == {"age", "marital", "records", "price", "amount"}
    assert rules.decrease_only == ("seniority",) or list(rules.decrease_only) == ["seniority"]
    assert tuple(rules.bounds["income"]) == (0, 90)
    assert rules.costs["income"] == 2
    assert "fixed" not in rules.categories["job"]
    assert rules.max_changes == 3
    wanted = pertinent.Explainer(
        credit.model, data=credit.train, constraints=rules, wording=WORDING
    ).explain(credit.applicants.iloc[[4]])[0]
    assert "amount" not in wanted.changed
    shown = page.locator(".card.change .suggestions .name").all_inner_texts()
    names = [WORDING.feature(name) for name in wanted.changed]
    assert sorted(shown) == sorted(names)
    page.get_by_role("button", name="Back to the first rules").first.click()
    settle(page)
    expect(page.locator(".card.change")).to_contain_text(ALONE)
    assert "rules" not in state_of(page)


def test_the_question(opened, credit):
    page = opened("#row=4")
    page.get_by_label("Probability at least (%)").fill("75")
    page.get_by_label("Probability at least (%)").press("Tab")
    settle(page)
    after = page.locator(".before-after li").last.locator(".n").inner_text()
    assert 75 <= float(after.strip("%")) <= 76
    page.get_by_label("Prefer").select_option(label="the fewest changes")
    settle(page)
    page.get_by_label("Enough means").select_option("exact")
    settle(page)
    expect(page.locator(".card.enough")).to_contain_text("no fewer values are enough")
    page.get_by_label("Reach").select_option(label="refused")
    settle(page)
    expect(page.locator(".card.change")).to_contain_text("already")
    state = state_of(page)["ask"]
    assert state["target"] == "refused"
    assert state["minProbability"] == 0.75
    assert (state["norm"], state["method"]) == ("l0", "exact")


def test_only_plausible_cases(opened, monkeypatch):
    for name in ("PLAUSIBLE_SECONDS", "PLAUSIBLE_LIVE"):  # no answer hangs on the machine's speed
        monkeypatch.setattr(f"pertinent.server.web.service.{name}", 600.0)
    page = opened("#row=9")
    change, box = page.locator(".card.change"), page.get_by_label("only plausible cases")
    expect(change).to_contain_text("Loan amount")
    box.check()
    settle(page)
    # A loan a little higher would do, and nobody whom the model refuses has such a one.
    expect(change).to_contain_text("Assets")
    expect(change).not_to_contain_text("Loan amount")
    assert state_of(page)["ask"]["plausible"] is True
    page.reload()
    settle(page)
    expect(box).to_be_checked()
    expect(change).to_contain_text("Assets")
    box.uncheck()
    settle(page)
    expect(change).to_contain_text("Loan amount")


def test_a_second_conflict_is_named_after_the_first_is_unlocked(browser, serving):
    from sklearn.tree import DecisionTreeClassifier

    X = np.array([[a, b] for a in range(6) for b in range(6)], dtype=float)
    model = DecisionTreeClassifier().fit(X, np.where((X > 2).all(axis=1), "in", "out"))
    with serving(model, X) as server:
        page = new_page(browser)
        page.goto(f"{server.url}{part(row=0, rules={'frozen': ['x0', 'x1']})}")
        for _ in range(2):  # either lock alone is too much: neither is said to be all
            settle(page)
            expect(page.locator(".conflict li")).to_have_count(1)
            words = page.locator(".card.change").inner_text()
            assert "This rule alone leaves no way" in words
            assert "there is one" not in words
            page.locator(".conflict button").click()
        settle(page)
        expect(page.locator(".conflict")).to_have_count(0)
        page.close()


LOCKED = ["age", "marital", "records", "price", "amount", "seniority", "job", "income", "assets"]


def test_proved_impossible_names_the_locks_and_unlocks(opened, credit):
    page = opened(part(row=4, rules={"frozen": LOCKED}))
    conflict = page.locator(".conflict li")
    words = conflict.all_inner_texts()
    assert any("loan amount stays as it is" in one for one in words)
    # Minimal: "marital" and "bad credit record" are locked as well, and not to blame.
    assert not any("marital" in one or "record" in one for one in words)
    expect(page.locator(".card.change")).to_contain_text("each is needed")
    page.get_by_role("button", name="Unlock: loan amount stays as it is").click()
    settle(page)
    expect(page.locator(".conflict")).to_have_count(0)
    expect(page.locator(".card.change .suggestions")).to_contain_text("loan amount")
    assert state_of(page)["rules"]["frozen"] == [one for one in LOCKED if one != "amount"]
    expect(page.get_by_role("button", name="Lock loan amount")).to_have_attribute(
        "aria-pressed", "false"
    )


def test_alternatives_levers_and_scenarios(opened, credit, explainer):
    page = opened("#row=4")
    row = credit.applicants.iloc[[4]]
    page.get_by_role("tab", name="Alternatives").click()
    cards = page.locator("#alternatives .card")
    expect(cards).to_have_count(3)
    page.get_by_role("tab", name="Menu of levers").click()
    page.wait_for_selector("#menu h3")
    menu = explainer.menu(row, max_features=2)
    works = {one.features for one in menu if one.works and len(one.features) == 1}
    never = {one.features for one in menu if one.status == "infeasible"}
    first = page.locator("#menu .levers").first.locator("li")
    assert first.count() == len(works)
    shown = {
        tuple(words.split(" + ")) for words in page.locator("#menu .tag.cannot").all_inner_texts()
    }
    assert shown == {tuple(WORDING.feature(name) for name in one) for one in never}
    first.first.get_by_role("button").click()
    settle(page)
    expect(page.locator("#prediction .class")).to_have_text("approved")

    page.get_by_role("tab", name="Scenarios").click()
    page.get_by_label("Keep the values as").fill("smaller loan")
    page.get_by_role("button", name="Save scenario").click()
    table = page.locator("#scenarios table")
    expect(table.locator("thead")).to_contain_text("smaller loan")
    page.get_by_role("button", name="Undo all edits").click()
    expect(table.locator("tbody tr").first).to_have_text("Predictionrefusedrefusedapproved")
    expect(table.get_by_role("row", name="loan amount 1,078")).to_contain_text("763")
    page.get_by_role("button", name="Open smaller loan").click()
    settle(page)
    assert state_of(page)["edits"] == {"amount": 763}


def test_what_leaves_the_page(opened, credit):
    page = opened("#row=4")
    page.get_by_role("button", name="Verify").click()
    expect(page.locator(".verdict .said")).to_have_class(re.compile("holds"))
    with page.expect_download() as event:
        page.get_by_role("button", name="JSON with certificate").click()
    stored = event.value.path().read_text()
    assert pertinent.check(stored, credit.model).ok
    with page.expect_download() as event:
        page.get_by_role("button", name="Report").click()
    assert "<!doctype html>" in event.value.path().read_text()[:200].lower()
    page.get_by_role("button", name="Letter").click()
    paper = page.locator("dialog.letter .paper")
    expect(paper).to_contain_text("763 thousand pesetas or less")
    assert paper.locator("h1").evaluate("(head) => getComputedStyle(head).fontFamily") != ""
    page.get_by_role("button", name="Close").click()
    expect(page.locator("dialog.letter")).to_have_count(0)


CSV = (
    "seniority,home,time,age,marital,records,job,expenses,income,assets,debt,amount,price,note\n"
    '2,owner,48,33,single,yes,"part-time",35,80,0,0,1000,1400,"a ""quoted"", one"\n'
    "2,nowhere,48,33,single,yes,part-time,35,many,0,0,1000,1400,\n"
)


def test_a_new_row(opened, credit, tmp_path):
    page = opened("#row=4")
    page.get_by_role("button", name="New row").click()
    dialog = page.get_by_role("dialog", name="A new row")
    file = tmp_path / "rows.csv"
    file.write_text(CSV)
    dialog.get_by_label("A file, CSV or JSON").set_input_files(file)
    expect(dialog).to_contain_text("Not used, since the model has no such features: note.")
    dialog.get_by_label("2 rows; use").select_option("1")
    expect(dialog.get_by_role("alert")).to_contain_text("home: expected one of")
    expect(dialog.get_by_role("alert")).to_contain_text("income: a number is needed; got “many”.")
    expect(dialog.get_by_role("button", name="Use this row")).to_have_count(0)
    dialog.get_by_label("or its text").fill('[{"seniority": 1}')
    expect(dialog.get_by_role("alert")).to_contain_text("This is not JSON")
    dialog.get_by_label("or its text").fill("age\n" + "30\n" * 501)
    expect(dialog.get_by_label("501 rows, the first 500 to choose from; use")).to_be_visible()
    dialog.get_by_label("A file, CSV or JSON").set_input_files(file)
    dialog.get_by_role("button", name="Use this row").click()
    settle(page)
    expect(page.locator("#case-title")).to_have_text("A new applicant")
    values = values_of(page)
    assert (values["job"], values["income"], values["time"]) == ("part-time", 80, 48)
    row = credit.applicants.iloc[[0]].copy()
    for name, value in values.items():
        row[name] = [value]
    expect(page.locator("#prediction .class")).to_have_text(credit.model.predict(row)[0])
    assert state_of(page)["own"] == values


#: Texts, and the row that is read out of them or why there is none; a category is "a" or "A".
READ = [
    ("constructor,kind\n1,a\n", {"constructor": 1, "kind": "a"}),
    ("kind;constructor\r\nA;0x10\r\n", {"constructor": 16, "kind": "A"}),
    ('[{"constructor": 1e3, "kind": "a"}]', {"constructor": 1000, "kind": "a"}),
    ("constructor,kind, kind\n1,a,A\n", "two columns “kind”"),
    ("kind\na\n", "constructor: there is no such column"),
    ('{"constructor": [5], "kind": "a"}', "a number is needed; got “5”"),
    ('{"constructor": true, "kind": "a"}', "a number is needed; got “true”"),
]


def test_texts_are_read_or_refused(opened):
    page = opened()
    read = """async (text) => {
        const { parse, validate } = await import("/static/js/case/reading.js");
        const features = [{ name: "constructor", kind: "number", low: null, high: null },
            { name: "kind", kind: "category", categories: ["A", "a"] }];
        try {
            const { row, errors } = validate(parse(text)[0], features);
            return errors[0] ?? row;
        } catch (error) { return error.message; }
    }"""
    for text, wanted in READ:
        found = page.evaluate(read, text)
        assert found == wanted if isinstance(wanted, dict) else wanted in found, text


@pytest.mark.parametrize("classes", [(0.0, 1.0), (False, True)])
def test_classes_that_are_no_text_have_their_probability(browser, serving, classes):
    from sklearn.linear_model import LogisticRegression

    X = np.c_[np.linspace(-3, 3, 40), np.tile([0.5, 1e6], 20)]
    model = LogisticRegression().fit(X, np.where(X[:, 0] > 0, *classes[::-1]))
    with serving(model, X) as server:
        page = new_page(browser)
        page.goto(f"{server.url}#row=0")
        expect(page.locator("#prediction .class")).to_have_text(str(classes[0]))
        expect(page.locator("#prediction .won")).to_have_text(re.compile(rf"{classes[0]}\d.*%"))
        page.close()


def test_a_score_is_no_probability_and_a_name_stays_as_it_is(browser, serving):
    from sklearn.svm import LinearSVC

    X = np.c_[np.linspace(-3, 3, 40), np.tile([0.5, 0.25], 20)]
    model = LinearSVC().fit(X, np.where(X[:, 0] > 0, "up", "down"))
    with serving(model, X) as server:
        page = new_page(browser)
        page.goto(f"{server.url}#row=0")
        settle(page)
        expect(page.locator(".before-after")).to_contain_text("The model's score of up: before -")
        expect(page.locator(".card.change")).not_to_contain_text("%")
        expect(page.locator(".card.change p").first).to_have_text(re.compile("^x0 "))
        page.close()


def test_a_missing_value(browser, serving):
    import pandas as pd
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.normal(size=300), "mass": rng.normal(size=300)})
    label = np.where(frame["size"] > 0.5, "big", "small")
    frame.loc[::7, "size"] = np.nan
    model = make_pipeline(SimpleImputer(), LogisticRegression()).fit(frame, label)
    row = int(np.flatnonzero(frame["size"] > 1.5)[0])
    gone = frame.iloc[[row]].assign(size=np.nan)
    assert model.predict(frame.iloc[[row]])[0] == "big"
    assert model.predict(gone)[0] == "small"
    with serving(model, frame) as server:
        page = new_page(browser)
        page.goto(f"{server.url}#row={row}")
        page.wait_for_selector("html[data-ready]")
        expect(page.locator("#prediction .class")).to_have_text("big")
        feature(page, "size").get_by_label("missing").check()
        expect(page.locator("#prediction .class")).to_have_text("small")
        assert state_of(page)["edits"] == {"size": None}
        feature(page, "size").get_by_label("missing").uncheck()
        expect(page.locator("#prediction .class")).to_have_text("big")
        assert "edits" not in state_of(page)
        page.close()
