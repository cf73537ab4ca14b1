import hashlib
import json
import pickle
import subprocess
import sys
from importlib.metadata import version

import pandas as pd
import pytest
import skops.io
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

from pertinent.cli import codes
from pertinent.cli.app import app
from pertinent.cli.wording import in_options, options_for
from pertinent.demo import train_credit_model
from pertinent.models import supported_models
from pertinent.models.regressors import supported_regressors
from pertinent.rules.reference import RuleKind, RuleRef, taken_back_by
from pertinent.setting.reasons.reason import Reason, Why
from pertinent.setting.region_key import Is

run = CliRunner().invoke


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    credit = train_credit_model()
    rows = credit.applicants.head(12).reset_index(drop=True)
    skops.io.dump(credit.model, folder / "model.skops")
    (folder / "model.pkl").write_bytes(pickle.dumps(credit.model))
    rows.assign(extra=1).to_csv(folder / "rows.csv", index=False)
    rows.to_parquet(folder / "rows.parquet")
    rows.to_feather(folder / "rows.arrow")
    credit.train.head(500).to_csv(folder / "train.csv", index=False)
    return folder


def test_every_command_has_help_with_an_example():
    assert run(app, ["--help"]).exit_code == 0
    for command in ("demo", "explain", "report", "check", "models"):
        result = run(app, [command, "--help"])
        assert result.exit_code == 0
        assert "Example" in result.output


def test_explain_in_words(files):
    rules = ["--freeze", "age", "--integer", "amount", "--bound", "income=0:"]
    result = run(app, ["explain", str(files / "model.skops"), str(files / "rows.csv"),
                       "--train", str(files / "train.csv"), "--rows", "0,2-3", *rules])  # fmt: skip
    assert result.exit_code == codes.DONE, result.output
    assert result.output.count("The model predicts") == 3
    assert "Ignored columns that the model does not know: extra" in result.output


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet", "rows.arrow"])
def test_every_kind_of_table_gives_the_same(files, name):
    arguments = ["explain", str(files / "model.skops"), str(files / name), "--rows", "0"]
    result = run(app, [*arguments, "--length", "short"])
    first = run(app, ["explain", str(files / "model.skops"), str(files / "rows.csv"),
                      "--rows", "0", "--length", "short"])  # fmt: skip
    assert result.stdout == first.stdout


def test_explain_then_check(files, tmp_path):
    stored = tmp_path / "explanations.json"
    result = run(app, ["explain", str(files / "model.skops"), str(files / "rows.csv"),
                       "--rows", "0-1", "--json", "-o", str(stored)])  # fmt: skip
    assert result.exit_code == codes.DONE, result.output
    result = run(app, ["check", str(stored), str(files / "model.skops")])
    assert result.exit_code == codes.DONE, result.output
    assert "is proved smallest" in result.output
    result = run(app, ["check", str(stored), str(files / "model.skops"), "--json"])
    found = json.loads(result.stdout)["explanations"]
    assert [one["verdict"] for one in found] == ["holds", "holds"]


def test_check_refutes_and_says_so_by_its_exit_code(files, tmp_path):
    stored = tmp_path / "explanations.json"
    run(app, ["explain", str(files / "model.skops"), str(files / "rows.csv"), "--rows", "0",
              "--json", "-o", str(stored)])  # fmt: skip
    document = json.loads(stored.read_text(encoding="utf-8"))
    document["summary"]["negative"]["values"][0]["value"] = 1
    stored.write_text(json.dumps([document]), encoding="utf-8")
    assert run(app, ["check", str(stored), str(files / "model.skops")]).exit_code == codes.REFUTED
    for part in document["proof"]["positive"]["certificates"]:
        part["certificate"]["blocks"][0]["proofs"] = {"type": "unheard-of"}
    document["summary"]["negative"]["values"][0]["value"] = document["summary"]["negative"][
        "values"
    ][0]["exact"]
    stored.write_text(json.dumps(document), encoding="utf-8")
    result = run(app, ["check", str(stored), str(files / "model.skops")])
    assert result.exit_code in (codes.UNCHECKED, codes.REFUTED)


def test_report(files, tmp_path):
    page = tmp_path / "report.html"
    result = run(app, ["report", str(files / "model.skops"), str(files / "rows.parquet"),
                       "-o", str(page), "--title", "All of them", "--json"])  # fmt: skip
    assert result.exit_code == codes.DONE, result.output
    assert "All of them" in page.read_text(encoding="utf-8")
    assert json.loads(result.stdout.splitlines()[0])["n"] == 12
    assert f"({page.stat().st_size / 1e3:.0f} kB)" in result.stderr  # small, but never 0.0 MB


def test_report_names_its_files(files, tmp_path):
    page = tmp_path / "report.html"
    arguments = ["report", str(files / "model.skops"), str(files / "rows.parquet"), "-o", str(page)]
    assert run(app, [*arguments, "--date", "1 May 2030"]).exit_code == codes.DONE
    text = page.read_text(encoding="utf-8")
    for name in ("model.skops", "rows.parquet"):
        digest = hashlib.sha256((files / name).read_bytes()).hexdigest()
        assert f"{name}, SHA-256 {digest}" in text
    assert "1 May 2030" in text


@pytest.mark.parametrize(
    ("maker", "types", "own"),
    [
        ("xgboost.XGBClassifier", ["xgboost.core.Booster", "xgboost.sklearn.XGBClassifier"], "ubj"),
        (
            "lightgbm.LGBMClassifier",
            ["lightgbm.basic.Booster", "lightgbm.sklearn.LGBMClassifier"],
            "",
        ),
        ("catboost.CatBoostClassifier", ["catboost.core.CatBoostClassifier"], "cbm"),
    ],
)
def test_missing_values_of_boosted_trees(maker, types, own, tmp_path, monkeypatch):
    package, name = maker.split(".")
    monkeypatch.chdir(tmp_path)  # one of the libraries writes beside its work
    X, y = load_iris(return_X_y=True, as_frame=True)
    X = X.mask(X == 3.0).rename(columns=lambda name: name.replace(" ", "_"))
    quiet = {"catboost": {"verbose": 0}, "lightgbm": {"verbose": -1}}.get(package, {})
    made = getattr(pytest.importorskip(package), name)(n_estimators=4, max_depth=2, **quiet)
    model = made.fit(X, y > 0)
    skops.io.dump(model, "model.skops")
    X.head(8).to_csv("rows.csv", index=False)
    trust = [part for one in types for part in ("--trust", one)]
    row = int(X.head(8).isna().any(axis=1).to_numpy().argmax())
    asked = ["explain", "model.skops", "rows.csv", *trust, "--rows", str(row)]
    for how in ([], ["--missing", "keep"], ["--missing", "allow"]):
        told = run(app, [*asked, *how])
        assert told.exit_code == codes.DONE, told.output
        assert "The model predicts" in told.output
    refused = run(app, [*asked, "--missing", "error"])
    assert refused.exit_code == codes.REFUSED
    assert "--missing keep" in refused.output
    if own:
        model.save_model(f"model.{own}")
        told = run(app, ["explain", f"model.{own}", "rows.csv", "--rows", str(row)])
        assert told.exit_code == codes.DONE, told.output
        assert "The model predicts" in told.output


def test_messages_name_options(files, tmp_path):
    rows = pd.read_csv(files / "rows.csv").drop(columns="extra")
    rows.loc[0, "income"] = None
    rows.to_csv(tmp_path / "gaps.csv", index=False)
    result = run(app, ["explain", str(files / "model.skops"), str(tmp_path / "gaps.csv")])
    assert result.exit_code == codes.REFUSED
    assert "gaps.csv has missing" in result.output
    assert "data has" not in result.output
    arguments = ["explain", str(files / "model.skops"), str(files / "rows.csv")]
    refused = run(app, [*arguments, "--limits", "-1"])
    assert "limits_from" not in refused.output
    assert "a share of at least 0" in refused.output


def test_messages_name_rows_as_the_table_numbers_them(files, tmp_path):
    rows = pd.read_csv(files / "rows.csv").drop(columns="extra")
    call = ["explain", str(files / "model.skops"), str(tmp_path / "rows.csv"), "--rows", "5"]
    call += ["--train", str(files / "train.csv")]
    for column, value, said in (
        ("income", None, "rows [5]"),
        ("job", "astronaut", "Row 5 of rows.csv has 'astronaut' in 'job'"),
    ):
        odd = rows.astype({column: object})
        odd.loc[5, column] = value
        odd.to_csv(tmp_path / "rows.csv", index=False)
        result = run(app, call)
        assert result.exit_code == codes.REFUSED
        assert said in result.output


def test_help_does_not_load_scikit_learn():
    code = "import sys, pertinent.cli.app; print(sorted({'sklearn', 'pandas'} & set(sys.modules)))"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert answer.stdout.strip() == "[]", answer.stderr


def test_models():
    families = json.loads(run(app, ["models", "--json"]).stdout)
    every = {*supported_models(), *supported_regressors()}
    assert sorted(name for family in families for name in family["models"]) == sorted(every)
    shipped = [family for family in families if family["family"] != "registered by you"]
    assert len(shipped) == 11
    assert all(family["proved"] for family in families)
    assert "LogisticRegression" in run(app, ["models"]).output


def test_a_pickle_is_refused_unless_spelled_out(files):
    arguments = ["explain", str(files / "model.pkl"), str(files / "rows.csv"), "--rows", "0"]
    result = run(app, arguments)
    assert result.exit_code == codes.REFUSED
    assert "--allow-pickle" in result.output
    result = run(app, [*arguments, "--allow-pickle"])
    assert result.exit_code == codes.DONE
    assert "runs whatever code it holds" in result.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--freeze", "agee"], "Did you mean 'age'?"),
        (["--bound", "income"], 'Expected bounds like "income=0:1000"'),
        (["--rows", "100"], "There is no row 100"),
        (["--rows", "a"], "Expected rows like"),
        (["--target", "perhaps"], "There is no class 'perhaps'"),
        (["--ignore", "nothing"], "There is no column 'nothing'"),
        (["--train", "no.csv"], "There is no file no.csv"),
        (["--train", "no.xlsx"], "Expected a file that ends in .csv"),
    ],
)
def test_what_cannot_be_used_is_named(files, arguments, words):
    start = ["explain", str(files / "model.skops"), str(files / "rows.csv")]
    result = run(app, [*start, *arguments])
    assert result.exit_code == codes.REFUSED
    assert words in " ".join(result.output.split())


def test_misuse():
    assert run(app, ["explain"]).exit_code == codes.MISUSED
    assert run(app, ["fly"]).exit_code == codes.MISUSED


def test_a_length_that_is_not_known_is_misuse(files):
    start = ["explain", str(files / "model.skops"), str(files / "rows.csv")]
    assert run(app, [*start, "--length", "huge"]).exit_code == codes.MISUSED


def test_files_that_cannot_be_read_or_written_are_named(files, tmp_path):
    model, nowhere = str(files / "model.skops"), str(tmp_path / "nowhere" / "x")
    start = [model, str(files / "rows.csv"), "--rows", "0", "-o", nowhere]
    for arguments, words in (
        (["check", model, model], "cannot be read as text"),
        (["explain", *start], "Cannot write"),
        (["report", *start], "Cannot write"),
    ):
        result = run(app, arguments)
        assert result.exit_code == codes.REFUSED, result.output
        assert words in " ".join(result.output.split())


def test_a_damaged_manifest_of_a_run_is_refused(files, tmp_path):
    (tmp_path / "_manifest.json").write_text("{")
    given = [str(files / name) for name in ("model.skops", "rows.parquet")]
    result = run(app, ["run", *given, str(tmp_path), "--train", str(files / "train.csv")])
    assert result.exit_code == codes.REFUSED
    assert "_manifest.json is damaged" in result.stderr


# -- Tables as people have them ----------------------------------------------------------------


def _explained(files, *arguments, **how):
    call = ["explain", str(files / "model.skops"), *map(str, arguments), "--rows", "0"]
    result = run(app, [*call, "--length", "short"], **how)
    assert result.exit_code == codes.DONE, result.output
    return result.stdout


@pytest.mark.parametrize(
    ("name", "separator", "decimal"),
    [("a.csv", ";", "."), ("b.csv", ";", ","), ("c.tsv", "\t", "."), ("d.txt", "\t", ",")],
)
def test_other_separators_and_decimal_commas_are_read(files, tmp_path, name, separator, decimal):
    rows = pd.read_csv(files / "rows.csv").assign(income=lambda rows: rows["income"] + 0.5)
    rows.to_csv(tmp_path / "plain.csv", index=False)
    rows.to_csv(tmp_path / name, sep=separator, decimal=decimal, index=False)
    assert _explained(files, tmp_path / name) == _explained(files, tmp_path / "plain.csv")


def test_rows_come_from_standard_input(files):
    text = (files / "rows.csv").read_text()
    assert _explained(files, "-", input=text) == _explained(files, files / "rows.csv")


def test_nothing_on_standard_input_is_said(files):
    result = run(app, ["explain", str(files / "model.skops"), "-"], input="")
    assert result.exit_code == codes.REFUSED
    assert "standard input: It is empty. Expected a line with the names" in result.output


def test_version():
    assert run(app, ["--version"]).stdout == f"pertinent {version('pertinent')}\n"


def test_whoever_has_seen_enough_may_close_the_pipe(files):
    what = f"{files}/model.skops {files}/rows.csv --rows 0-3"
    call = f"{sys.executable} -m pertinent explain {what} --json"
    done = subprocess.run(
        f"{call} | head -c 5", shell=True, capture_output=True, text=True, check=False
    )
    assert done.stdout == '{"for'
    assert "Traceback" not in done.stderr
    assert "Error" not in done.stderr


# -- What is asked -------------------------------------------------------------------------------


def _stored(files, *arguments):
    call = ["explain", str(files / "model.skops"), str(files / "rows.csv"), "--json"]
    result = run(app, [*call, "--train", str(files / "train.csv"), *arguments])
    assert result.exit_code == codes.DONE, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.mark.parametrize(
    "asked",
    [
        ["--method", "strict"],
        ["--norm", "l0"],
        ["--min-proba", "0.7"],
        ["--limits", "none", "--steps", "none", "--rare", "0"],
    ],
)
def test_what_is_asked_is_answered_and_checked(files, tmp_path, asked):
    documents = _stored(files, "--rows", "0-2", *asked)
    stored = tmp_path / "stored.json"
    stored.write_text("\n".join(json.dumps(document) for document in documents))
    result = run(app, ["check", str(stored), str(files / "model.skops")])
    assert result.exit_code == codes.DONE, result.output


def test_what_the_data_suggest_can_be_switched_off(files):
    train = ["--train", str(files / "train.csv"), "--rows", "0"]
    suggested = _stored(files, *train)[0]["summary"]["rules"]["inferred"]
    assert suggested
    off = _stored(files, *train, "--limits", "none", "--steps", "none", "--rare", "0")
    left = off[0]["summary"]["rules"]["inferred"]
    assert len(left) < len(suggested)
    wider = _stored(files, *train, "--limits", "0.5")[0]["summary"]["rules"]["inferred"]
    assert wider != suggested


def test_what_the_data_suggest_of_one_feature_can_be_switched_off(files):
    train = ["--train", str(files / "train.csv"), "--rows", "0"]
    suggested = _stored(files, *train)[0]["summary"]["rules"]["inferred"]
    for off, gone in (
        (["--bound", "age=:"], "age stays between"),
        (["--step", "age=none"], "age stays whole"),
        (["--any-category", "home"], "home is not changed to"),
    ):
        left = _stored(files, *train, *off)[0]["summary"]["rules"]["inferred"]
        assert [rule for rule in suggested if rule not in left] == [
            rule for rule in suggested if rule.startswith(gone)
        ]
        assert len(left) == len(suggested) - 1


def test_steps_are_kept_and_odd_ones_refused(files):
    asked = ["--freeze", "records", "--rows", "4"]
    (one,) = _stored(files, *asked, "--step", "amount=50", "--step", "price=50")
    values = {v["feature"]: v["value"] for v in one["summary"]["negative"]["values"]}
    assert values
    assert all(value % 50 == 0 for name, value in values.items() if name in ("amount", "price"))
    for text in ("amount", "amount=few"):
        result = run(
            app, ["explain", str(files / "model.skops"), str(files / "rows.csv"), "--step", text]
        )
        assert result.exit_code == codes.REFUSED
        assert "Expected a step like" in result.output


def test_plausible_answers_need_training_data(files):
    call = ["explain", str(files / "model.skops"), str(files / "rows.csv"), "--plausible"]
    result = run(app, call)
    assert result.exit_code == codes.REFUSED
    assert "--train FILE" in result.output


def test_warnings_speak_of_no_argument_of_python(files):
    start = ["explain", str(files / "model.skops"), str(files / "rows.csv"), "--rows", "0"]
    result = run(app, [*start, "--train", str(files / "train.csv"), "--plausible"])
    assert result.exit_code == codes.DONE, result.output
    assert "singular covariance" in result.stderr
    assert "covariance_type" not in result.stderr
    assert "reg_covar" not in result.stderr


def test_limits_that_are_no_share_are_refused(files):
    call = ["explain", str(files / "model.skops"), str(files / "rows.csv"), "--limits", "wide"]
    result = run(app, call)
    assert result.exit_code == codes.REFUSED
    assert "Expected limits" in result.output


def test_alternatives_are_told_stored_and_checked(files, tmp_path):
    start = [
        str(files / "model.skops"),
        str(files / "rows.csv"),
        "--train",
        str(files / "train.csv"),
    ]
    words = run(app, ["explain", *start, "--rows", "4", "--alternatives", "2"])
    assert words.exit_code == codes.DONE, words.output
    assert words.stdout.count("Other changes that would have done it:") == 1
    stored = tmp_path / "explanations.json"
    asked = ["--rows", "0-4", "--alternatives", "2", "--target", "approved"]
    result = run(app, ["explain", *start, *asked, "--json", "-o", str(stored)])
    assert result.exit_code == codes.DONE, result.output
    result = run(app, ["check", str(stored), str(files / "model.skops"), "--json"])
    assert result.exit_code == codes.DONE, result.output
    found = json.loads(result.stdout)["explanations"]
    claims = [finding["claim"] for one in found for finding in one["findings"]]
    assert any("each alternative is another set of features" in claim for claim in claims)


def test_a_report_tells_alternatives(files, tmp_path):
    page = tmp_path / "report.html"
    start = [str(files / "model.skops"), str(files / "rows.csv")]
    result = run(app, ["report", *start, "--alternatives", "1", "-o", str(page)])
    assert result.exit_code == codes.DONE, result.output
    assert "Other changes that would have done it:" in page.read_text()


def test_a_run_lists_alternatives_in_a_column(files, tmp_path):
    rows, out = tmp_path / "rows.parquet", tmp_path / "out"
    pd.read_parquet(files / "rows.parquet").head(6).to_parquet(rows)
    start = [str(files / "model.skops"), str(rows), str(out)]
    train = ["--train", str(files / "train.csv")]
    result = run(app, ["run", *start, *train, "--alternatives", "2"])
    assert result.exit_code == codes.DONE, result.output
    listed = pd.read_parquet(out)["alternatives"]
    assert [len(some) for some in listed] == [2] * 6
    assert listed[0][0]["rank"] == 1
    assert listed[0][0]["part"] == "negative"
    assert set(listed[0][0]["values"]) == set(pd.read_parquet(rows).columns)
    # Another number of them is another run, and outputs of different runs are not mixed.
    result = run(app, ["run", *start, *train])
    assert result.exit_code == codes.REFUSED
    assert "settings" in result.output


def test_reasons_name_the_options_that_take_rules_back(files):
    others = [n for n in pd.read_csv(files / "train.csv", nrows=1).columns if n != "expenses"]
    held = [word for name in others for word in ("--freeze", name)]
    asked = ["explain", str(files / "model.skops"), str(files / "rows.csv"), "--rows", "0"]
    asked += ["--train", str(files / "train.csv"), *held]
    said = run(app, asked).stdout
    assert "to allow more: “--bound expenses=:" in " ".join(said.split())
    assert "Constraints(" not in said
    stored = json.loads(run(app, [*asked, "--json"]).stdout)
    assert "Constraints(bounds={'expenses'" in stored["summary"]["negative"]["reason"]


def test_features_called_like_options_keep_their_names(tmp_path):
    X, y = load_iris(return_X_y=True)
    frame = pd.DataFrame(X, columns=["time_limit", "max_changes", "min_proba", "norm"])
    skops.io.dump(LogisticRegression(max_iter=1000).fit(frame, y), tmp_path / "model.skops")
    frame.head(1).to_csv(tmp_path / "rows.csv", index=False)
    files = [str(tmp_path / "model.skops"), str(tmp_path / "rows.csv"), "--limits", "data"]
    said = run(app, ["explain", *files]).stdout
    assert "time_limit" in said
    assert not any(f"--{name}" in said for name in ("time-limit", "max-changes", "min-proba"))
    said = run(app, ["report", *files, "-o", str(tmp_path / "report.html")]).stdout
    assert "time_limit" in said
    assert not any(f"--{name}" in said for name in ("time-limit", "max-changes", "min-proba"))


def test_names_with_braces_are_no_part_of_a_sentence():
    rules = (
        RuleRef(RuleKind.DATA_AT_MOST, ("debt {EUR}",), 68.0),
        RuleRef(RuleKind.DATA_STEP, ("b",), 1.0),
    )
    reason = Reason(Why.RULES, Is(1), rules)
    assert "Constraints(bounds={'debt {EUR}': (None, None)}" in reason.words(["no", "yes"])
    with taken_back_by(options_for):
        assert "“--bound 'debt {EUR}=:' --step b=none”" in reason.words(["no", "yes"])


@pytest.mark.parametrize(
    "name",
    [
        "Constraints(bounds={nonsense})",
        "Constraints(bounds={'age': (None, None)})",
        "Constraints(other={'a': None})",
        "Constraints(bounds={'\\x'})",
    ],
)
def test_words_that_only_look_like_ours_stay_as_they_are(name):
    assert in_options(f"“{name}” is a class.") == f"“{name}” is a class."


def test_a_few_rows_alone_are_no_picture_of_what_there_is(files, tmp_path):
    """The range of a single row would allow nothing but itself."""
    pd.read_parquet(files / "rows.parquet").iloc[[4]].to_csv(tmp_path / "one.csv", index=False)
    asked = ["explain", str(files / "model.skops"), str(tmp_path / "one.csv")]
    alone = run(app, asked)
    assert "too few rows" in alone.stderr
    assert "nothing that the rules allow" not in alone.stdout
    assert "instead of" in alone.stdout
    known = run(app, [*asked, "--train", str(files / "train.csv")])
    assert not known.stderr
    told = json.loads(run(app, [*asked, "--json"]).stdout)["summary"]
    values = [value["value"] for value in told["negative"]["values"]]
    assert all(isinstance(value, str) or value >= 0 for value in values)
    narrow = json.loads(run(app, [*asked, "--json", "--limits", "data"]).stdout)["summary"]
    assert len(narrow["rules"]["inferred"]) > len(told["rules"]["inferred"])
