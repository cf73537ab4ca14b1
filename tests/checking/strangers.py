"""Explanations that strangers might send: small, and claiming much.

Run as a module, in a process of its own, which says how much time and memory each one took.
"""

import copy
import json
import resource
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import pertinent
from pertinent.exceptions import PertinentError

HUGE = {"type": "array", "of": "float", "shape": [50_000_000], "at": [0], "values": [1.0]}
ROW = {"type": "array", "of": "int", "shape": [1], "values": [0]}


def deep(levels):
    return json.loads("[" * levels + "]" * levels)


def several(inner, times):
    rows_and_proofs = [[ROW, inner]] * times
    return {"type": "several", "n": 1, "parts": rows_and_proofs}


def nest(inner, levels):
    for _ in range(levels):
        inner = several(inner, 1)
    return inner


def block_of(document):
    return document["proof"]["negative"]["certificates"][0]["certificate"]["blocks"][0]


def put(document, part, key, value):
    document["proof"][part][key] = value


def rules(document, **given):
    document["proof"]["question"]["constraints"].update(given)


def summary_of(document, **given):
    document["summary"].update(given)


def many_blocks(document, times):
    document["proof"]["negative"]["certificates"][0]["certificate"]["blocks"] *= times


def pairs(**given):
    return {"type": "mapping", "pairs": [[k, v] for k, v in given.items()]}


NAMES = [f"x{i}" for i in range(50_000)]
#: What is done to an honest document.
ATTACKS = {
    "deep weights": lambda d: put(d, "question", "weights", deep(900)),
    "deep summary": lambda d: summary_of(d, row=deep(900)),
    "deep proofs": lambda d: block_of(d).update(proofs=nest(block_of(d)["proofs"], 90)),
    "huge array": lambda d: put(d, "question", "weights", HUGE),
    "huge arrays": lambda d: put(d, "question", "middle", [HUGE] * 50),
    "large arrays": lambda d: put(d, "question", "middle", [{**HUGE, "shape": [190_000]}] * 100),
    "flat array": lambda d: put(d, "question", "weights", {**HUGE, "shape": [0, 10**12]}),
    "negative shape": lambda d: put(d, "question", "weights", {**HUGE, "shape": [-1, -(10**12)]}),
    "many rows": lambda d: block_of(d).update(proofs={"type": "nothing", "n": 10**9}),
    "some rows": lambda d: block_of(d).update(proofs={"type": "nothing", "n": 10**7}),
    "rows of a certificate": lambda d: d["proof"]["negative"]["certificates"][0][
        "certificate"
    ].update(n=10**7),
    "several": lambda d: block_of(d).update(proofs=several(block_of(d)["proofs"], 5_000)),
    "blocks": lambda d: many_blocks(d, 5_000),
    "pieces": lambda d: block_of(d).update(piece=10**15),
    "certificates": lambda d: d["proof"]["negative"].update(
        certificates=d["proof"]["negative"]["certificates"] * 3_000
    ),
    "groups": lambda d: rules(d, together=[["x0", "x1"]] * 100_000),
    "fewer groups": lambda d: rules(d, together=[["x0", "x1"]] * 9_000),
    "frozen": lambda d: rules(d, frozen=["x0"] * 9_000),
    "frozen places": lambda d: rules(d, frozen=[0] * 1_000_000),
    "relations": lambda d: rules(d, relations=["x0 <= x1"] * 9_000),
    "a long relation": lambda d: rules(d, relations=["x0" + " + x0" * 19_000 + " <= 1"]),
    "nested relation": lambda d: rules(d, relations=["(" * 50_000 + "x0" + ")" * 50_000 + " <= 1"]),
    "large power": lambda d: rules(d, relations=["x0 <= 9**9**9**9"]),
    "decimals": lambda d: rules(d, decimals=pairs(x0=10**9)),
    "odd decimals": lambda d: rules(d, decimals=pairs(x0=-(10**9)), integer=["x1"]),
    "categories": lambda d: rules(d, categories={"type": "mapping", "pairs": [["x0", NAMES * 20]]}),
    "bounds": lambda d: rules(
        d, bounds={"type": "mapping", "pairs": [[n, [0, 1]] for n in NAMES[:20_000]]}
    ),
    "changes": lambda d: rules(d, max_changes=10**12),
    "features": lambda d: put(d, "question", "features", NAMES * 20),
    "sample": lambda d: put(d, "question", "sample", [10**4000] * 4),
    "infinite sample": lambda d: put(d, "question", "sample", [float("inf")] * 4),
    "long name": lambda d: put(d, "question", "features", ["x" * 10_000_000, "a", "b", "c"]),
    "shown features": lambda d: summary_of(d, features=d["summary"]["features"] * 5_000),
    "shown classes": lambda d: summary_of(d, classes=list(range(1_000_000))),
    "shown rules": lambda d: summary_of(d, rules={"a" * 1000 + str(i): i for i in range(5_000)}),
    "reason": lambda d: put(d, "negative", "reason", {"kind": "rules", "features": NAMES * 20}),
    "ranges": lambda d: put(d, "question", "ranges", [{**HUGE, "shape": [10_000_000]}] * 2),
    "within": lambda d: put(d, "question", "within", several({"type": "hulls"}, 20_000)),
}


def attempt(text, model):
    """Return what is wrong with how a text is taken; None if it is refused or answered."""
    for what in (
        lambda: pertinent.check(text, model),
        lambda: pertinent.check(json.loads(text), model),
        lambda: pertinent.Explanation.from_json(text).text(),
    ):
        try:
            what()
        except PertinentError as error:
            if len(str(error)) > 2000:
                return f"a long refusal: {str(error)[:200]}"
        except RecursionError as error:
            return f"{error!r}"
        except Exception as error:
            return f"{error!r}"[:300]
    return None


def main(names, *, in_turns):
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
    X, y = load_iris(return_X_y=True)
    models = [LogisticRegression(max_iter=1000).fit(X, y), GaussianNB().fit(X, y)]
    honest = [
        json.loads(pertinent.Explainer(m, data=X).explain(X[60:61])[0].json()) for m in models
    ]
    for i, name in enumerate(names or ATTACKS):
        # Models take turns, or each attack is made on all.
        chosen = slice(i % 2, i % 2 + 1) if in_turns else slice(None)
        for model, document in zip(models[chosen], honest[chosen], strict=True):
            forged = copy.deepcopy(document)
            ATTACKS[name](forged)
            text = json.dumps(forged)
            del forged
            start = time.process_time()
            wrong = attempt(text, model)
            seconds = time.process_time() - start
            memory = most_memory()
            print(json.dumps([name, wrong, round(seconds, 2), round(memory, 2)]), flush=True)


def most_memory() -> float:
    """Return the GiB that this process has taken at most.

    Where the system tells it, not counting what the process that started it had.
    """
    status = Path("/proc/self/status")
    if status.exists():
        (line,) = [one for one in status.read_text().splitlines() if one.startswith("VmHWM")]
        return int(line.split()[1]) / 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


if __name__ == "__main__":
    np.seterr(all="ignore")
    given = sys.argv[1:]
    main([name for name in given if name != "--in-turns"], in_turns="--in-turns" in given)
