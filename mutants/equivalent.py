"""Single checks of the trusted base that may be left out, each with the reason.

A check is named by its function and its words (`mutants.checks`). Of some the same is said by the
check beside them; others keep a search for a proof short, and decide nothing.
"""

from __future__ import annotations

from mutants.catalogue import Mutant

_SHORT = "what has no end is longer than any sliver: neither inf nor NaN is below a number"
_BESIDE = "a column of one value lies beside a piece that ends there, and such pieces are skipped"
_BOTH = "a box that costs too much has an end below its start, and one that does not has none"
_NO_ROOM = "where the bound exceeds the cost no feature has room to lie beyond what is near"
_NOTHING = "a claim of 0 features claims nothing"

_ROUNDS = "it only ends rounds of rules that take away less each time: a box may stay open longer"
_PRICES = "any price is right: where it is looked for decides only how soon a box is closed"
_WEIGHTS = "any weights are right: those of another box, or section, close less"
_CLOSED = "a closed box has no leaves left, and nothing opens it again"
_AGAIN = "asked again for each box: what lies outside of all of them is left out early"
_SAME_SUM = "whichever category counts as the cheapest, each costs the same in the end"
_FIRST = "the first is looked at even if it is late: what is not looked at shows nothing"
_FREE = "a feature that is not barred is free to be kept: the proof shows less, and nothing more"
_ENDLESS = "the bound of an endless claim is inf or no number, which closes nothing"
_HALVED = "it decides where halving ends: a piece that is cut further is shown no less of"
_NO_MIDDLE = "a piece without a number inside is one of two again, until halving ends by its rounds"

#: By the place and the words of the check.
CHECKS: dict[tuple[str, str], str] = {
    ("proofs/boxes.py:_cut", "low < high"): _BESIDE,
    ("proofs/cases/bent.py:_Number.least", "lowest < best[box] - allowed[box]"): _HALVED,
    ("proofs/cases/bent.py:_Number.least", "left < middle"): _NO_MIDDLE,
    ("proofs/cases/bent.py:_Number.least", "middle < right"): _NO_MIDDLE,
    ("proofs/boxes.py:_is_sliver", "np.isfinite(low)"): _SHORT,
    ("proofs/boxes.py:_is_sliver", "np.isfinite(high)"): _SHORT,
    ("proofs/boxes.py:_is_sliver", "finite"): _SHORT,
    ("proofs/cases/axes.py:_is_diagonal", "square"): "the form of a row is always square",
    ("proofs/cases/axis_boxes.py:_affordable", "rest >= 0"): _BOTH,
    ("proofs/cases/axis_boxes.py:_affordable", "(low <= high).all(axis=1)"): _BOTH,
    ("proofs/cases/axis_boxes.py:OneRow.only_near", "len(low) > AXIS_BOXES or is_over()"):
        "it ends a long look early; what a longer one shows is right, and its rounds are counted",
    ("proofs/cases/axis_boxes.py:OneRow.only_near", "~(bound > cost)"): _NO_ROOM,
    ("proofs/cases/branch.py:next_allowed", "found != own"):
        "the own value is put back in the last line: it lies above wherever it was found",
    ("proofs/cases/branch.py:Replay._is_lossless", "~in_group"):
        "a column of a group counts as any number there: only what loses no number passes",
    ("proofs/cases/curved.py:CurvedBranchProofs.leaf_bounds", "k"): _FIRST,
    ("proofs/cases/curved.py:CurvedBranchProofs.leaf_bounds", "is_over()"):
        "it decides how many cases are looked at; one that is not shows nothing",
    ("proofs/core.py:Certificate._bounds", "piece"): _FIRST,
    ("proofs/winners.py:_", "first"):
        "it decides how much is looked at late; what is not looked at shows nothing",
    ("checking/reasons.py:reason", "question"):
        "a strict positive always comes with its question",
    ("proofs/ensembles/proof.py:EnsembleProofs._replayed", "claim > known"):
        "a claim that is not above what is known already shows no more, and costs time",
    ("proofs/ensembles/replay.py:Replay._close", "k"): _ROUNDS,
    ("proofs/ensembles/replay.py:Replay._close",
     "(np.count_nonzero(batch.alive, axis=0) > WORTH * same).all()"): _ROUNDS,
    ("proofs/supports/cardinality.py:StrictProofs._folded", "(fold.sum(axis=0) > 1)[owner]"): _FREE,
    ("proofs/supports/cardinality.py:StrictProofs._folded", "np.isin(x, (0.0, 1.0))"): _FREE,
    ("proofs/supports/cardinality.py:StrictProofs._folded", "np.isin(rest, (0.0, 1.0))"): _FREE,
    ("proofs/supports/cardinality.py:StrictProofs._folded", "choice"): _FREE,
    ("proofs/supports/cardinality.py:StrictProofs._folded", "x != rest"): _FREE,
    ("proofs/copositive/replay.py:_is_copositive", "np.isfinite(scaled).all()"):
        "a matrix that is none has no eigenvalue that exceeds a number",
    ("proofs/core.py:Certificate._whole", "not blocks"):
        "without proofs about the whole region nothing is known of any piece: zeros, as without it",
    ("proofs/ensembles/boxes.py:Rules.narrow", "not moved"): _ROUNDS,
    ("proofs/ensembles/derive.py:Look.open", "np.isfinite(self.claim)"): _ENDLESS,
    ("proofs/ensembles/inside.py:_holds", "not _wins(region, whole.some()).all()"):
        "what loses is seen again one by one, or leaves too many parts: it ends a long look early",
    ("proofs/ensembles/derive.py:Look._narrowed", "not moved"): _ROUNDS,
    ("proofs/ensembles/derive.py:Look._narrowed", "np.count_nonzero(batch.alive) == before"):
        _ROUNDS,
    ("proofs/ensembles/nodes.py:_sources", "side >= 0"): _WEIGHTS,
    ("proofs/ensembles/nodes.py:_sources", "source[side] < 0"): _WEIGHTS,
    ("proofs/ensembles/part.py:Part.of", "asks"): _AGAIN,
    ("proofs/ensembles/part.py:_needs", "one.stated >= 0"): _WEIGHTS,
    ("proofs/ensembles/part.py:_lengths", "one.step > 0"):
        "a step that costs nothing is paid by nobody",
    ("proofs/ensembles/part.py:_lengths", "place >= low[column]"): _AGAIN,
    ("proofs/ensembles/part.py:_lengths", "place < high[column]"): _AGAIN,
    ("proofs/ensembles/rest.py:Rest._closed", "~closed"): _CLOSED,
    ("proofs/ensembles/rest.py:Rest._closed", "price > 0"):
        "at a price of 0 the bound is rule R3, which was applied",
    ("proofs/ensembles/rest.py:Rest._closed", "known"):
        "where no branching is known, the other half of the condition holds",
    ("proofs/ensembles/rest.py:Rest._closed", "self.nodes.column[boxes.node] < 0"): _PRICES,
    ("proofs/ensembles/rest.py:Rest._closed", "np.isfinite(self.rules.claim[boxes.row])"):
        _ENDLESS,
    ("proofs/ensembles/rest.py:Rest._closed", "ends"): _PRICES,
    ("proofs/ensembles/rest.py:Rest._priced", "~shut"): _CLOSED,
    ("proofs/ensembles/rest.py:Rest._priced", "after < 0.9 * before"): _ROUNDS,
    ("proofs/ensembles/rest.py:Rest._decided", "~closed"): _CLOSED,
    ("proofs/ensembles/shares.py:best_prices", "np.isfinite(above)"): _PRICES,
    ("proofs/ensembles/shares.py:best_prices", "below > 0"): _PRICES,
    ("proofs/ensembles/derive.py:Look._undecided",
     "tally.beats(totals, self.region.label, other)"):
        "what stays open here is looked at by `Rest`, which asks the same of it",
    ("proofs/ensembles/tables.py:_column", "j in domain.confined"):
        "the next allowed number of a column that takes every number is the number itself",
    ("proofs/ensembles/tables.py:_choose_one", "fits[:, at + 1]"): _SAME_SUM,
    ("proofs/ensembles/tables.py:_choose_one",
     "forced.sum(axis=1, keepdims=True) == forced"): _SAME_SUM,
    ("checking/reasons.py:_of_sets", "own.trusted().all()"):
        "a solver's word that there is no point counts for nothing: its bound is 0",
    ("checking/ranges.py:_is_about", "np.isnan(answer.points).any() or room == Room()"):
        "a room of an answer that is none holds no point that `predict` accepts: nothing is shown",
    ("proofs/linear.py:dual_values", "~endless"):
        "slopes towards an open end were shrunk below their weight: the other condition is false",
    ("proofs/linear.py:is_empty", "slopes != 0"):
        "a slope of 0 counts as left over, and what it falls by is 0",
    ("proofs/linear.py:leaves_one_point", "block.shape[0] < block.shape[1]"):
        "fewer rows than columns have no full rank, which is asked for next",
    ("proofs/supports/fewest.py:_Sample.of", "low <= high"):
        "where the ends cross, a feature rests at its upper end, and is fixed or forced",
    ("proofs/supports/fewest.py:_Sample.refuted", "np.isfinite(value)"):
        "rows about an endless cost need -inf, and rows that are no numbers are left out",
    ("proofs/supports/fewest.py:_Sample.refuted", "not argument.ray.all()"):
        "without multipliers of costs there are no rows about costs",
    ("proofs/supports/fewest_mixed.py:FeatureRows.of", "moves"):
        "a feature that cannot move gains nothing for any row; without it there are fewer sets",
    ("proofs/supports/sufficient.py:SufficientProofs.bounds", "fewer >= 0"): _NOTHING,
    ("proofs/supports/sufficient.py:RivalSetProofs._one", "fewer >= 0"): _NOTHING,
    ("proofs/supports/sufficient.py:_one_row_suffices", "count >= 0"): _NOTHING,
    ("proofs/supports/sufficient.py:RivalSetProofs._one", "good[:, None]"):
        "a rival that does not count asks for 0 features, which every set has",
    ("proofs/sweep.py:SweepProofs._holds", "c > 0"):
        "what a sweep gains is at least 0, and must be below c",
    ("proofs/sweep.py:SweepProofs._holds", "t > 0"):
        "a radius that is not above 0 raises no bound",
    ("proofs/winners.py:_one_row_bounds", "steep == 0"):
        "what is_empty shows of a row is right wherever it is asked; most rows need not be",
    ("proofs/winners.py:_one_row_bounds", "excess > 0"):
        "a row that holds at the start is not empty, and is_empty says so",
}  # fmt: skip


def reason_for(mutant: Mutant) -> str | None:
    """Return why a check that is left out changes nothing; None where it does."""
    return CHECKS.get((mutant.where, mutant.breaks.removeprefix("not checked: ")))
