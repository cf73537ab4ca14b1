"""Functions of solvers, answering and questions that no problem breaks, and why none need."""

_ABSTRACT = "what a kind of search must say itself: it raises, and no search gets as far"
_AT_IMPORT = "compiles a function when its module is imported, before any question is asked"
_CONVENIENCE = "makes the arguments of a solver that is called by hand; no question calls it"

_POINTS_ONLY = (
    "tries other points where changes may not be too small, or beside rounded ones; no small "
    "problem needs it. Its points are judged and its proofs recomputed like those of every search"
)

_NEEDED = (
    "proposes a point that shows that a rule of a conflict is needed, where many conflict or a "
    "class has typical points; the point goes to the judge (`each_is_needed`) before that is said"
)

_COUNTED = (
    "lists further sets with the fewest changes, under rules that the data suggest; it claims "
    "nothing of their order, and each point goes to the judge and its rules are looked at again"
)

_SEARCHED = (
    "looks for points by asking predict; nothing is proved of a model that is searched, whatever "
    "is found, and each point goes to the judge (`tests/checking/test_searched.py`)"
)

OUT_OF_REACH: dict[str, str] = {
    "pertinent.answering.conflict._implausible": (
        "names the rules of a conflict with plausibility where they are more than 64; it says of "
        "none that it is needed, and that there is no point is proved without it"
    ),
    "pertinent.answering.fewer_rules._Shrinking._broken": _NEEDED,
    "pertinent.questions.alternatives._Counts.__init__": _COUNTED,
    "pertinent.questions.alternatives._Counts._list": _COUNTED,
    "pertinent.questions.alternatives._Counts.solve": _COUNTED,
    "pertinent.questions.alternatives._by_count": _COUNTED,
    "pertinent.questions.alternatives.further_counts": _COUNTED,
    "pertinent.questions.ranges.boxes._endless": (
        "asked of sides without an end on which a curved row never turns: no small answer has one; "
        "what it lets through is looked at by the trusted code like every other box"
    ),
    "pertinent.questions.verify.refuse_categories": (
        "refuses a question, always: there is no answer that could claim anything"
    ),
    "pertinent.solvers.best_piece._elsewhere": (
        "hands a piece to the same solver in another process, where no bug can be planted; the "
        "solvers themselves are broken here"
    ),
    "pertinent.solvers.ensembles.solve.BoxSearch.begin": _ABSTRACT,
    "pertinent.solvers.ensembles.solve.BoxSearch.branchings": _ABSTRACT,
    "pertinent.solvers.ensembles.solve.BoxSearch.closer": _ABSTRACT,
    "pertinent.solvers.ensembles.solve.BoxSearch.found": _ABSTRACT,
    "pertinent.solvers.ensembles.solve.BoxSearch.least": _ABSTRACT,
    "pertinent.solvers.ensembles.solve.BoxSearch.run": _ABSTRACT,
    "pertinent.solvers.ensembles.solve._refusal": (
        "says why a question about sums of trees is refused: there is no answer then"
    ),
    "pertinent.solvers.jit._njit": _AT_IMPORT,
    "pertinent.solvers.jit.compiled": _AT_IMPORT,
    "pertinent.solvers.jit.entry": _AT_IMPORT,
    "pertinent.solvers.jit.inlined": _AT_IMPORT,
    "pertinent.solvers.linear.simplex.scaled.Asked.of": _CONVENIENCE,
    "pertinent.solvers.search.cases.CaseSearch.gap": _ABSTRACT,
    "pertinent.solvers.search.engine.Problem.advance": _ABSTRACT,
    "pertinent.solvers.search.engine.Problem.joined": _ABSTRACT,
    "pertinent.solvers.search.near._is_out": _POINTS_ONLY,
    "pertinent.solvers.search.near._neighbours": _POINTS_ONLY,
    "pertinent.solvers.search.near._slid_back": _POINTS_ONLY,
    "pertinent.solvers.union._is_allowed": _POINTS_ONLY,
    "pertinent.solvers.union._out_of_gaps": _POINTS_ONLY,
    "pertinent.solvers.select.choose_method": (
        "what is said of a region of a kind that nobody registered: it raises"
    ),
    "pertinent.solvers.union._method_of_union": (
        "tells whoever asks how a union is solved; a search asks that of its pieces only"
    ),
    "pertinent.solvers.union._solve_union": (
        "lets a method of somebody's own region hand on a union; a search goes by its pieces"
    ),
    "pertinent.answering.anything.asking.Asking._likely": _SEARCHED,
    "pertinent.answering.anything.asking.Asking._run": _SEARCHED,
    "pertinent.answering.anything.asking.Asking.accepts": _SEARCHED,
    "pertinent.answering.anything.asking.Asking.ask": _SEARCHED,
    "pertinent.answering.anything.asking.Asking.holds": _SEARCHED,
    "pertinent.answering.anything.asking.Asking.run": _SEARCHED,
    "pertinent.answering.anything.asking._next": _SEARCHED,
    "pertinent.answering.anything.closest.Row.__post_init__": _SEARCHED,
    "pertinent.answering.anything.closest.Row._ask": _SEARCHED,
    "pertinent.answering.anything.closest.Row._best": _SEARCHED,
    "pertinent.answering.anything.closest.Row._few": _SEARCHED,
    "pertinent.answering.anything.closest.Row._note": _SEARCHED,
    "pertinent.answering.anything.closest.Row._pulled": _SEARCHED,
    "pertinent.answering.anything.closest.Row._sparse": _SEARCHED,
    "pertinent.answering.anything.closest.Row._starts": _SEARCHED,
    "pertinent.answering.anything.closest.Row._together": _SEARCHED,
    "pertinent.answering.anything.closest.Row._traded": _SEARCHED,
    "pertinent.answering.anything.closest.Row.search": _SEARCHED,
    "pertinent.answering.anything.closest._firm": _SEARCHED,
    "pertinent.answering.anything.closest._places": _SEARCHED,
    "pertinent.answering.anything.closest.closest": _SEARCHED,
    "pertinent.answering.anything.enough.Kept._ask": _SEARCHED,
    "pertinent.answering.anything.enough.Kept._orders": _SEARCHED,
    "pertinent.answering.anything.enough.Kept._removed": _SEARCHED,
    "pertinent.answering.anything.enough.Kept._sets": _SEARCHED,
    "pertinent.answering.anything.enough.Kept._shorter": _SEARCHED,
    "pertinent.answering.anything.enough.Kept._swapped": _SEARCHED,
    "pertinent.answering.anything.enough.Kept.points": _SEARCHED,
    "pertinent.answering.anything.enough.Kept.search": _SEARCHED,
    "pertinent.answering.anything.moves._in_categories": _SEARCHED,
    "pertinent.answering.anything.moves._joined": _SEARCHED,
    "pertinent.answering.anything.moves._spent": _SEARCHED,
    "pertinent.answering.anything.moves.changed_units": _SEARCHED,
    "pertinent.answering.anything.moves.pairs": _SEARCHED,
    "pertinent.answering.anything.moves.pulls": _SEARCHED,
    "pertinent.answering.anything.moves.resets": _SEARCHED,
    "pertinent.answering.anything.moves.singles": _SEARCHED,
    "pertinent.answering.anything.moves.trades": _SEARCHED,
    "pertinent.answering.anything.space.Space._on_steps": _SEARCHED,
    "pertinent.answering.anything.space.Space.allows": _SEARCHED,
    "pertinent.answering.anything.space.Space.any_number": _SEARCHED,
    "pertinent.answering.anything.space.Space.categories": _SEARCHED,
    "pertinent.answering.anything.space.Space.categories_all": _SEARCHED,
    "pertinent.answering.anything.space.Space.cost": _SEARCHED,
    "pertinent.answering.anything.space.Space.fitted": _SEARCHED,
    "pertinent.answering.anything.space.Space.numbers": _SEARCHED,
    "pertinent.answering.anything.space.Space.of": _SEARCHED,
    "pertinent.answering.anything.space.Space.reset": _SEARCHED,
    "pertinent.answering.anything.space.Space.units": _SEARCHED,
    "pertinent.answering.anything.space.Space.with_number": _SEARCHED,
    "pertinent.answering.searching._searched": _SEARCHED,
    "pertinent.questions.searched.kept_by_search": _SEARCHED,
}
