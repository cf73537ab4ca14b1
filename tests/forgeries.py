"""Stored explanations with something else in them."""

import copy
import json

import numpy as np

import pertinent
from pertinent.checking.document import rebuild
from pertinent.proofs.records import decode
from pertinent.summary.summary import summarize


def tampered(stored, path, value):
    document = copy.deepcopy(stored)
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return document


def resummed(document, model):
    """Make the summary say what the forged answers say."""
    rebuilt = rebuild(document, model)
    steps = np.asarray(decode(document["proof"]["question"]["steps"]), dtype=float)
    own = json.loads(json.dumps(summarize(rebuilt, [0], steps)[0]))
    document["summary"] = {**own, "id": document["summary"]["id"]}
    return document


def refuted(document, model):
    checked = pertinent.check(document, model)
    assert checked.verdict == "refuted", checked
    return [f.claim for f in checked.findings if f.verdict == "refuted"]
