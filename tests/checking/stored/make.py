"""Store an explanation of every kind with its model: ``python -m tests.checking.stored.make DIR``.

Files of a format that was handed out once must be readable and checkable for good, so a folder is
made once for each format and then kept. What came to the second format later (alternatives with
their proofs, ranges, what stands in for an empty positive, sums of trees, missing values, rules
that the data suggest, conflicts of which each rule is needed) is in a folder of its own, which
``--later`` makes; so are models of other families (``--families``), and sums over categories or
bent columns (``--sums``). ``index.json`` says of each file which model it is about, what it holds,
and what `pertinent.check` said when it was made.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED

import skops.io

import pertinent
from pertinent.models.files import load_model
from tests.checking.stored.families import BENT, FAMILIES, Family
from tests.golden.cases import (
    COUNTS,
    IRIS_RANGES,
    LOAN_RANGES,
    RARE,
    USUAL,
    Case,
    both,
    known,
    single,
    with_gaps,
)
from tests.golden.models import fitted
from tests.golden.record import recorded_with

HELD = {"frozen": [2, 3], **IRIS_RANGES}
SETOSA_ONLY = {"bounds": {0: (4, 8), 1: (2, 4.5), 2: (0.5, 2.5), 3: (0, 0.6)}}
TIGHT = {"n_components": 2, "quantile": 1.0}
MIXED = {
    "decimals": {"income": -1}, "integer": ["months", "age"], "bounds": LOAN_RANGES,
    "categories": {"job": ["fixed", "freelance", "part time"]},
    "transitions": {"education": {"school": ["bachelor"], "bachelor": ["master"]}},
    "relations": ["debt <= 0.4 * income"], "costs": {"age": 5.0},
}  # fmt: skip
LOAN_CONFLICT = {
    "frozen": ["income", "age", "education"], "bounds": {"debt": (0, None), "months": (60, None)},
    "categories": {"job": ["none"]}, "relations": ["debt >= 0.4 * income"],
}  # fmt: skip
CREDIT = {
    "frozen": ["age", "marital", "records", "price"],
    "bounds": {"income": (0, None), "debt": (0, None), "time": (6, 72)},
    "integer": ["seniority", "time", "expenses", "income", "assets", "debt", "amount"],
}
HULL = {"method": "hull", "n_neighbors": 8}

#: Name of the file: the question, about one row of the model's training data.
STORED: dict[str, Case] = {
    # Two-phase positives and nearest contrasts, by family.
    "linear": both("logistic iris", rows=[0]),
    "linear-target": both("logistic iris", rows=[0], target=2),
    "linear-binary": both("logistic pair", rows=[99]),
    "linear-trivial": both("logistic pair", rows=[0]),
    "linear-ties": both("ties", rows=[0], data=None, baseline=[5.0, 2.0, 3.0, 1.0]),
    "linear-single-precision": both("logistic iris", rows=[100], change=single),
    "linear-off-tol": both("logistic wine", rows=[0], off_tol=0.3),
    "probable": both("logistic iris", rows=[0], min_proba=0.8),
    "probable-infeasible": both("logistic iris", rows=[149], min_proba=0.8),
    "qda": both("QDA 0.1", rows=[0]),
    "qda-varying": both("QDA 0", rows=[18]),
    "naive-bayes-boxes": both("naive Bayes", rows=[0]),
    "naive-bayes-sweep": both("naive Bayes cancer", rows=[0]),
    "glvq": both("GLVQ", rows=[0]),
    "gmlvq": both("GMLVQ", rows=[74]),
    "lgmlvq": both("LGMLVQ", rows=[0]),
    "one-nearest-neighbour": both("1-NN", rows=[149]),
    "tree": both("tree", rows=[88]),
    # Fewest features.
    "strict": both("logistic wine", rows=[0], method="strict"),
    "strict-categories": both("counts", rows=[0], method="strict", rules=COUNTS, baseline=USUAL),
    "exact": both("logistic wine", rows=[0], method="exact"),
    "exact-qda": both("QDA 0.1", rows=[149], method="exact"),
    "exact-categories": both("counts", rows=[0], method="exact", rules=COUNTS, baseline=RARE),
    "exact-curved-categories": both(
        "counts QDA", rows=[0], method="exact", rules=COUNTS, baseline=USUAL
    ),
    "sufficient": both("logistic wine", rows=[0], method="sufficient"),
    "sufficient-naive-bayes": both("naive Bayes", rows=[0], method="sufficient"),
    "sufficient-tree": both("tree", rows=[0], method="sufficient"),
    "sufficient-gmlvq": both("GMLVQ", rows=[0], method="sufficient"),
    "sufficient-categories": both(
        "counts naive Bayes", rows=[0], method="sufficient", rules=COUNTS, baseline=USUAL
    ),
    "fewest-changes": both("logistic wine", rows=[0], norm="l0"),
    "fewest-changes-qda": both("QDA 0.1", rows=[149], norm="l0"),
    "fewest-changes-categories": both("counts", rows=[0], norm="l0", rules=COUNTS),
    "fewest-changes-infeasible": both("logistic iris", rows=[0], norm="l0", target=2, rules=HELD),
    "fewest-changes-too-many": both(
        "logistic wine", rows=[0], norm="l0", rules={"max_changes": 1}
    ),
    # Pipelines, categories and rules.
    "pca": both("PCA", rows=[0]),
    "clipped": both("clipped", rows=[0]),
    "bins": both("bins, ordinal", rows=[0]),
    "mixed-rules": both("one-hot", rows=[0], rules=MIXED),
    "mixed-few-changes": both(
        "one-hot", rows=[0], rules={"max_changes": 2, "bounds": LOAN_RANGES}
    ),
    "mixed-glvq": both("counts GLVQ", rows=[0], rules=COUNTS),
    "mixed-naive-bayes": both("one-hot naive Bayes", rows=[0], rules={"frozen": ["age"]}),
    "whole-numbers-qda": both("QDA 0.1", rows=[0], rules={"integer": [2], **IRIS_RANGES}),
    "credit-rules": both("credit", rows=[4], rules=CREDIT),
    # Apart, possible and not.
    "apart": both("logistic iris", rows=[60], overlap="avoid"),
    "apart-impossible": both(
        "logistic iris", rows=[0], overlap="avoid", rules={"frozen": [0, 1], **IRIS_RANGES}
    ),
    "apart-impossible-naive-bayes": both(
        "naive Bayes", rows=[0], overlap="avoid", rules=IRIS_RANGES
    ),
    # Plausible.
    "dense": both("logistic iris", rows=[0], like={"n_components": 1}),
    "dense-infeasible": both("logistic iris", rows=[0], like=TIGHT, rules={"frozen": [0, 1]}),
    "dense-qda-infeasible": both("QDA 0.1", rows=[0], like=TIGHT, rules={"frozen": [0, 1]}),
    "hull": both("logistic iris", rows=[60], between=False, like=HULL),
    "hull-infeasible": both("logistic iris", rows=[0], like=HULL, rules={"frozen": [0, 1]}),
    # Nothing obeys the rules, or nothing is known.
    "infeasible": both("logistic iris", rows=[0], target=2, rules=HELD),
    "infeasible-positive": both(
        "logistic iris",
        rows=[149],
        baseline=[5.0, 3.4, 1.5, 0.2],
        between=False,
        rules=SETOSA_ONLY,
    ),
    "infeasible-qda": both("QDA 0.1", rows=[0], target=2, rules=HELD),
    "infeasible-naive-bayes": both("naive Bayes", rows=[0], target=2, rules=HELD),
    "infeasible-tree": both("tree", rows=[88], rules={"frozen": [0, 1, 2, 3, 5, 6, 9]}),
    "infeasible-mixed": both("one-hot", rows=[299], rules=LOAN_CONFLICT),
    "infeasible-few-changes": both(
        "one-hot",
        rows=[199],
        rules={"frozen": ["income", "debt"], "bounds": LOAN_RANGES, "max_changes": 1},
    ),
    "failed": both("1-NN crowded", rows=[0], data=None, baseline=0.3, target=0),
}  # fmt: skip

#: The same of what files of the second format hold since.
LATER: dict[str, Case] = {
    "known-data": known("logistic iris", rows=[60]),
    "known-data-mixed": known("one-hot", rows=[0]),
    "known-data-tree": known("tree", rows=[88]),
    "alternatives": known("logistic wine", rows=[0], alternatives=2),
    "alternatives-strict": known("logistic wine", rows=[0], method="strict", alternatives=2),
    "alternatives-exact": known("logistic iris", rows=[60], method="exact", alternatives=2),
    "alternatives-fewest": known("logistic iris", rows=[60], norm="l0", alternatives=1),
    "instead-contrast": both("logistic iris", rows=[60], rules={"relations": ["x0 + x1 <= 20"]}),
    "instead-negative": known(
        "logistic pair", rows=[0], data=None, baseline=[5.0, 2.0, 3.0, 1.0]
    ),
    "most-changes": known("logistic wine", rows=[0], max_changes=2),
    "probable": known("logistic iris", rows=[0], min_proba=0.8),
    "forest": known("forest", rows=[0]),
    "forest-strict": known("forest", rows=[60], method="strict"),
    "forest-exact": known("forest", rows=[60], method="exact"),
    "forest-sufficient": known("forest", rows=[60], method="sufficient"),
    "forest-fewest-changes": known("forest", rows=[149], norm="l0"),
    "forest-infeasible": known("forest", rows=[0], target=2, rules={"frozen": [2, 3]}),
    "missing-kept": known("boosting", rows=[0], missing="keep"),
    "missing-allowed": known("boosting", rows=[60], missing="allow"),
    "missing-filled": known("credit with gaps", rows=[2, 3, 4], missing="impute", change=with_gaps),
    "conflict": known("logistic iris", rows=[0], target=2, rules=HELD),
    "conflict-density": known("logistic iris", rows=[0], like=TIGHT, rules={"frozen": [0, 1]}),
    "conflict-hull": known("logistic iris", rows=[0], like=HULL, rules={"frozen": [0, 1]}),
}  # fmt: skip

#: Rows that are sums over numbers and categories, which have proofs of their own since.
SUMS: dict[str, Case] = {
    "sums": both("one-hot naive Bayes", rows=[0], rules={"frozen": ["age"]}),
    "sums-few-changes": both(
        "one-hot naive Bayes", rows=[0], rules={"max_changes": 2, "bounds": LOAN_RANGES}
    ),
}


def proof_kinds(record: Any) -> set[str]:
    """Return the names of everything recorded in the certificates of a document."""
    if isinstance(record, list):
        return set().union(*map(proof_kinds, record))
    if not isinstance(record, dict):
        return set()
    own = record.get("type")
    kinds = {own} if isinstance(own, str) else set()
    kinds |= {"varying"} if record.get("varying") is not None else set()
    return kinds.union(*map(proof_kinds, record.values()))


def entry(explanations: pertinent.Explanations, model: Any, document: str) -> dict[str, Any]:
    """Return what the index says of a document."""
    checked = pertinent.check(document, model)
    proof = json.loads(document)["proof"]
    kinds: set[str] = set()
    for part in ("positive", "negative"):
        kinds |= proof_kinds([v for k, v in proof[part].items() if k.endswith("certificates")])
    positive, negative = explanations.positive, explanations.negative
    return {
        "positive": [str(positive.status[0]), positive.unique[0]],
        "negative": [str(negative.status[0]), negative.unique[0]],
        "proofs": sorted(kinds - {"array", "float", "mapping", "certificate", "block"}),
        "verdict": checked.verdict,
        "claims": dict(Counter(finding.verdict for finding in checked.findings)),
        "open": [f.claim for f in checked.findings if f.verdict not in ("holds", "taken as given")],
    }


Made = tuple[str, Any, pertinent.Explanations]


def golden(cases: dict[str, Case]) -> Iterator[tuple[str, Made]]:
    """Yield name, name of the model, model and explanation of each case."""
    for name, case in cases.items():
        model = case.model.replace(", ", "-").replace(" ", "-").lower()
        yield name, (model, fitted(case.model).model, case.run())


def families(chosen: dict[str, Family]) -> Iterator[tuple[str, Made]]:
    """Yield the same of models that have a file each."""
    return ((name, (name, *family.run())) for name, family in chosen.items())


def make(folder: Path, cases: Iterable[tuple[str, Made]]) -> dict[str, Any]:
    """Write a file of each case into a folder, and return its index."""
    folder.mkdir(parents=True, exist_ok=True)
    files: dict[str, Any] = {}
    for name, (called, model, result) in cases:
        model_file = folder / f"{called}.skops"
        if not any(one["model"] == model_file.name for one in files.values()):
            skops.io.dump(model, model_file, compression=ZIP_DEFLATED, compresslevel=9)
        document = result[0].json()
        (folder / f"{name}.json").write_text(document + "\n", encoding="utf-8")
        about = entry(result, load_model(model_file), document)
        files[f"{name}.json"] = {"model": model_file.name, **about}
    index = {"with": recorded_with(), "files": files}
    lines = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in files.items())
    text = f'{{"with": {json.dumps(index["with"])}, "files": {{\n{lines}\n}}}}\n'
    (folder / "index.json").write_text(text, encoding="utf-8")
    return index


def main() -> None:
    where, *which = sys.argv[1:]
    folder = Path(where)
    cases = {
        "": lambda: golden(STORED),
        "--later": lambda: golden(LATER),
        "--families": lambda: families(FAMILIES),
        "--sums": lambda: chain(golden(SUMS), families(BENT)),
    }["".join(which)]()
    for name, about in make(folder, cases)["files"].items():
        size = (folder / name).stat().st_size
        print(f"{name:38s} {size:7,d}  {about['positive']} {about['negative']} {about['verdict']}"
              f"  {' '.join(about['proofs'])}")  # fmt: skip


if __name__ == "__main__":
    main()
