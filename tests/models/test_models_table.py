"""The table of models and questions in the documentation, which is made by asking."""

from benchmarks.models_table import DOCS, QUESTIONS, models, row


def shown():
    lines = [line for line in DOCS.read_text().splitlines() if line.startswith("| `")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {name.strip("`"): dict(zip(QUESTIONS, rest, strict=True)) for name, *rest in cells}


def test_every_model_is_in_the_table():
    assert list(shown()) == [name for name, *_ in models()]


def test_rows_are_what_asking_gives():
    for name, model, two in models():
        if name in ("OutputCodeClassifier", "DecisionTreeClassifier"):
            assert row(model, two) == shown()[name]
