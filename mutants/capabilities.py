"""Which tests follow which part of the source: nearest first, those that see everything last."""

from __future__ import annotations

from mutants.catalogue import Mutant

#: What sees every part, after the tests of the part itself.
WIDE = ("tests/golden/test_golden.py", "tests/checking/test_stored.py", "tests/test_promises.py")

_LINEAR = ("tests/models/test_linear.py", "tests/test_common.py")
_PROOFS = (
    "tests/proofs/test_single_checks.py",
    "tests/proofs/test_single_forgeries.py",
    "tests/proofs/test_certificate.py",
    "tests/proofs/test_records.py",
)
_SETS = (
    "tests/proofs/test_single_cases.py",
    "tests/questions/test_positives.py", "tests/questions/test_negatives.py",
    "tests/questions/test_mixed.py", "tests/questions/test_support_trust.py",
)  # fmt: skip
_CURVED = (
    "tests/proofs/test_single_checks.py", "tests/proofs/test_single_forgeries.py",
    "tests/proofs/test_quadratic_proofs.py", "tests/proofs/test_near.py",
    "tests/proofs/test_rounding.py", "tests/solvers/test_separable.py",
    "tests/solvers/test_splitting.py", "tests/solvers/test_varying.py",
    "tests/solvers/test_few.py",
)  # fmt: skip
_CHECKING = (
    "tests/checking/test_single_checks.py", "tests/checking/test_single_claims.py",
    "tests/checking/test_claims.py", "tests/checking/test_forgeries.py",
    "tests/checking/test_document.py", "tests/checking/test_refusals.py",
    "tests/checking/test_alternatives.py", "tests/checking/test_fewest_changes.py",
    "tests/checking/test_format.py", "tests/checking/test_mixed_types.py",
    "tests/checking/test_strangers.py", "tests/checking/test_single_proofs.py",
)  # fmt: skip

#: By the beginning of a file's path below ``src/pertinent``; the longest that fits counts.
FOLLOWS: dict[str, tuple[str, ...]] = {
    "models/": _LINEAR,
    "models/linear.py": _LINEAR,
    "models/combined/one_vs_rest.py": ("tests/models/test_pipeline_matrix.py", *_LINEAR),
    "models/combined/": ("tests/models/test_combined.py", "tests/models/test_linear.py"),
    "models/combined/calibrated.py": ("tests/models/test_combined.py",
                                      "tests/models/test_pipeline_edges.py"),
    "models/bayes/discrete.py": ("tests/models/test_discrete.py",),
    "models/confidence.py": ("tests/models/test_linear.py", "tests/models/test_pipeline_edges.py"),
    "models/prototype.py": ("tests/models/test_prototype.py",),
    "models/neighbours.py": ("tests/models/test_neighbours.py", "tests/models/test_prototype.py"),
    "models/bayes/quadratic.py": ("tests/models/test_quadratic.py",
                                  "tests/test_common_quadratic.py"),
    "models/combined/svc.py": ("tests/models/test_quadratic.py", "tests/test_common_quadratic.py"),
    "models/regressors/": ("tests/models/regressors",),
    "models/trees/one_tree.py": ("tests/models/test_tree.py",),
    "models/trees/": ("tests/models/test_forests.py",),
    "models/files.py": ("tests/models/test_files.py", "tests/models/test_no_pickle.py"),
    "models/sound.py": ("tests/models/test_damaged_files.py", "tests/models/test_files.py"),
    "geometry/": ("tests/geometry/test_single_rows.py", "tests/geometry",
                  "tests/models/test_pipeline.py"),
    "geometry/quadratic.py": ("tests/geometry", "tests/models/test_quadratic.py"),
    "geometry/rounding/": ("tests/geometry/test_single_rows.py",
                             "tests/geometry/test_allowed.py", "tests/setting/test_margins.py",
                             "tests/geometry"),
    "geometry/winners.py": ("tests/geometry", "tests/models/test_prototype.py"),
    "geometry/cell.py": ("tests/geometry/test_single_rows.py", "tests/geometry",
                         "tests/solvers/test_cone.py"),
    "geometry/ensembles/": ("tests/geometry/test_ensembles.py", "tests/models/test_forests.py"),
    "geometry/domain.py": ("tests/geometry/test_allowed.py", "tests/questions/test_mixed.py",
                           "tests/solvers/test_mixed.py"),
    "rules/": ("tests/rules/test_single_rules.py", "tests/rules"),
    "setting/": ("tests/setting", "tests/questions/test_two_phase.py", "tests/api"),
    "setting/claims/": ("tests/checking/test_single_checks.py",
                        "tests/checking/test_single_proofs.py", "tests/setting",
                        "tests/checking/test_forgeries.py",
                        "tests/questions/test_support_trust.py"),
    "setting/judge.py": ("tests/setting/test_single_judgements.py", "tests/setting"),
    "setting/claims/shown.py": ("tests/setting/test_single_judgements.py",
                                "tests/checking/test_single_checks.py", "tests/setting"),
    "geometry/gaps.py": ("tests/geometry/test_single_rows.py",
                         "tests/checking/test_single_checks.py", "tests/geometry"),
    "setting/effort.py": ("tests/questions/test_positives.py",),
    "setting/margins.py": ("tests/setting/test_single_limits.py", "tests/setting/test_margins.py"),
    "setting/limits.py": ("tests/setting/test_single_limits.py",
                          "tests/questions/test_two_phase.py", "tests/questions/test_boxes.py",
                          "tests/rules"),
    "setting/options.py": ("tests/api", "tests/solvers/test_global_scip.py"),
    "proofs/": (*_PROOFS, "tests/proofs/test_unique.py", *_CHECKING[:3]),
    "proofs/lagrange.py": ("tests/proofs/test_lagrange.py", *_CURVED,
                           "tests/checking/test_single_proofs.py"),
    "proofs/sweep.py": _CURVED,
    "proofs/tangent.py": ("tests/solvers/test_cone.py", *_CURVED),
    "proofs/winners.py": ("tests/geometry/test_winners.py", "tests/models/test_prototype.py"),
    "proofs/cases/": ("tests/proofs/test_single_cases.py", "tests/proofs/test_cases.py", *_CURVED,
                      "tests/solvers/test_mixed.py"),
    "proofs/copositive/": ("tests/proofs/test_single_cases.py", "tests/proofs/test_odd_numbers.py",
                           *_CURVED),
    "proofs/supports/": ("tests/proofs/test_reach.py", *_SETS),
    "proofs/boxes.py": ("tests/proofs/test_single_forgeries.py", "tests/proofs/test_boxes.py",
                        "tests/checking/test_ranges.py"),
    "proofs/linear.py": (*_PROOFS, "tests/proofs/test_near.py", "tests/proofs/test_unique.py",
                         "tests/proofs/test_rounding.py"),
    "proofs/ensembles/": ("tests/proofs/test_single_forgeries.py",
                          "tests/solvers/test_ensembles.py", "tests/questions/test_ensembles.py",
                          "tests/geometry/test_ensembles.py"),
    "checking/": _CHECKING,
    "checking/alternatives.py": ("tests/checking/test_alternatives.py", *_CHECKING),
    "checking/chances.py": ("tests/checking/test_chances.py", *_CHECKING),
    "checking/ranges.py": ("tests/checking/test_ranges.py", *_CHECKING),
    "checking/instead.py": ("tests/checking/test_instead.py", *_CHECKING),
    "checking/reasons.py": ("tests/setting/test_needed_plausibility.py",
                            "tests/setting/test_needed_rules.py", *_CHECKING),
    "checking/unknown.py": ("tests/checking/test_not_known.py", *_CHECKING),
    "density/": ("tests/density",),
    "solvers/": ("tests/solvers/test_cheap.py", "tests/solvers/test_project.py",
                 "tests/solvers/test_search_trust.py"),
    "solvers/search/knapsack/": ("tests/solvers/test_knapsack.py",),
    "solvers/search/bent/": ("tests/models/test_bent.py",),
    "solvers/search/separable/": ("tests/solvers/test_separable_choice.py",),
    "summary/": ("tests/strangers/test_single_precision.py", "tests/views"),
    "scale/": ("tests/scale/test_arrow.py", "tests/scale/test_run.py",
               "tests/scale/test_batches.py"),
}  # fmt: skip


_NUMBERS, _ROWS = "tests/models/test_single_numbers.py", "tests/geometry/test_single_rows.py"
_RULES, _LIMITS = "tests/rules/test_single_rules.py", "tests/setting/test_single_limits.py"
_SINGLE, _QUADRATIC = "tests/proofs/test_single_checks.py", "tests/models/test_quadratic.py"
_CLAIMS, _FORGERIES = "tests/checking/test_single_claims.py", "tests/checking/test_forgeries.py"
_JUDGE, _PROTOTYPE = "tests/setting/test_single_judgements.py", "tests/models/test_prototype.py"
_CASES, _CHEAP = "tests/proofs/test_single_cases.py", "tests/solvers/test_cheap.py"
_PROOFS_IN_FILES = "tests/checking/test_single_proofs.py"
_CALIBRATED = f"{_NUMBERS}::test_a_calibration_moves_the_boundary"
_PRIORS = f"{_NUMBERS}::test_priors_spreads_and_determinants_count"
_SURE = f"{_NUMBERS}::test_a_probability_is_asked_for"
_ARROW, _RUN = "tests/scale/test_arrow.py", "tests/scale/test_run.py"
_FILES = "tests/models/test_files.py"
_DENSE = "tests/density/test_single_points.py"
_ONE_BENT, _ONE_LEAF = "tests/proofs/test_single_bent.py", "tests/proofs/test_single_leaves.py"

#: Tests that are known to notice a mutant, by its description: they are run first.
NOTICED: dict[str, str] = {
    "one-vs-rest forgets the offset of a calibration": _NUMBERS,
    "one-vs-rest forgets where its columns are shifted to": _NUMBERS,
    "relevances are taken for their roots":
        f"{_PROTOTYPE}::test_models_of_other_packages_as_they_were_fitted",
    "the slope of a calibration has the other sign": _CALIBRATED,
    "the offset of a calibration has the other sign": _CALIBRATED,
    "the offset of a calibration is forgotten": _CALIBRATED,
    "priors of centroids have the other sign": f"{_PRIORS}[NearestCentroid]",
    "half of the priors of centroids": f"{_PRIORS}[NearestCentroid]",
    "centroids are measured in the inverse of their spread": f"{_PRIORS}[NearestCentroid]",
    "the factor 2 of a Gaussian's slope is lost": _PRIORS,
    "priors and determinants have the other sign": _PRIORS,
    "the distance between two means is forgotten": _PRIORS,
    "saddles are taken for convex rows": _PRIORS,
    "a class without a prior competes": f"{_QUADRATIC}::test_a_class_without_a_prior_never_wins",
    "the whole log-determinant": _PRIORS,
    "the log-determinant has the other sign": _PRIORS,
    "QDA: priors are forgotten": _PRIORS,
    "the factor 1/2 of a Gaussian is lost": _PRIORS,
    "all classes of a Gaussian model have the first determinant": _PRIORS,
    "naive Bayes: priors are forgotten": _PRIORS,
    "a subclass with a predict of its own is taken for its base":
        "tests/models/test_linear.py::test_subclasses_count_as_their_parent_only_if_they_decide_alike",
    "odds are taken for a probability": _SURE,
    "min_proba of two classes is not asked for": _SURE,
    "min_proba of several classes has the other sign": _SURE,
    "min_proba moves the boundary outwards": _SURE,
    "half of the terms that round are forgotten": _NUMBERS,
    "naive Bayes: a variance of 0 is accepted": _NUMBERS,
    "SVC: the factor 2 of the mixed term is lost": f"{_QUADRATIC}::test_polynomial_svc",
    "straight rows forget where they start": _NUMBERS,
    "every metric is taken for the Euclidean one": f"{_PROTOTYPE}::test_refusals_give_the_reason",
    "several neighbours are taken for one": f"{_PROTOTYPE}::test_refusals_give_the_reason",
    "a pulled-back lower bound has the other sign": _ROWS,
    "what rounds in curved rows is not looked at": _ROWS,
    "scores in single precision round like those in double precision": _ROWS,
    "the gap of an optimal answer is 100 times as wide": _ROWS,
    "half of the transitions are forgotten": _RULES,
    "a whole number may have decimals": _RULES,
    "lower bounds are not looked at": _RULES,
    "directions are not looked at": _RULES,
    "the judge asks for no probability": _JUDGE,
    "the judge does not ask what rounds": _JUDGE,
    "single precision is judged before it is rounded": _JUDGE,
    "margins are rounded down": _LIMITS,
    "a negative may raise the positive's features": _LIMITS,
    "with off_tol, what is turned off may rise above the tolerance": _LIMITS,
    "a bound is claimed whatever the proofs show": _JUDGE,
    "the fewest changes are optimal whatever is proved": _LIMITS,
    "with off_tol, what is turned off leaves the lower limits of the rules": _LIMITS,
    "optimal is claimed whatever the proofs show": _LIMITS,
    "strict positives are optimal whatever is proved": _LIMITS,
    "a time limit is kept a minute late": _LIMITS,
    "a time limit is 100 times as long": _LIMITS,
    "the limits of an exact answer are not passed on": _LIMITS,
    "dependent rows leave one point": _SINGLE,
    "what limits allow beyond the weights is forgotten": _SINGLE,
    "the corners of a hull push the other way": _SINGLE,
    "a sweep proves more than it shows": _SINGLE,
    "a sweep is about the first row only": _SINGLE,
    "a rival's bound is twice as large": _SINGLE,
    "boxes that are left over are taken for closed": _SINGLE,
    "boxes at half of the distance are closed": _SINGLE,
    "half of the bend in the middle of a box": _SINGLE,
    "mixed terms of a row are forgotten": _SINGLE,
    "what fixed features cost is counted twice": _SINGLE,
    "the cost of a change is forgotten at a box's lowest point": _SINGLE,
    "a proof may be about another class":
        f"{_FORGERIES}::test_a_proof_about_another_region_is_refuted",
    "a proof may be about another question":
        f"{_FORGERIES}::test_a_number_of_features_is_no_distance",
    "negative multipliers of curved rows are accepted":
        f"{_PROOFS_IN_FILES}::test_negative_multipliers_of_curved_rows_do_not_empty_a_class",
    "what rounds in curved rows is free":
        f"{_SINGLE}::test_what_rounds_in_a_sum_of_curved_rows_is_taken_off",
    "a case is narrower than its split says": _CASES,
    "the lowest point of a parabola is missed":
        f"{_CASES}::test_halving_finds_the_lowest_point_of_a_box",
    "what free columns pay is not taken off":
        f"{_CASES}::test_what_a_free_column_pays_is_taken_off",
    "a simplex may be split outside of itself":
        f"{_CASES}::test_an_edge_is_split_between_its_ends",
    "a form with a negative diagonal is copositive":
        f"{_CASES}::test_a_form_that_is_negative_at_a_corner_is_refused_quietly",
    "negative multipliers of forms are accepted": f"{_CASES}::test_negative_multipliers_of_forms",
    "negative multipliers of sets are accepted": f"{_CASES}::test_negative_multipliers_of_sets",
    "pairs of features gain nothing":
        f"{_CASES}::test_pairs_of_features_gain_more_than_each_alone",
    "the others push the wrong way":
        f"{_CASES}::test_one_row_shows_at_once_how_many_values_are_needed",
    "rivals of the own class count": f"{_CASES}::test_a_rival_of_the_own_class_is_none",
    "a solver's word is a proof": f"{_PROOFS_IN_FILES}::test_a_solvers_word_is_no_proof",
    "several pieces are left, and one is the only one": f"{_PROOFS_IN_FILES}::test_the_nearest",
    "arrays may be of any shape": f"{_PROOFS_IN_FILES}::test_an_array_of_two_samples_is_refused",
    "the fewest changes are believed":
        "tests/checking/test_fewest_changes.py::test_without_its_proof_nothing_is_fewest",
    "a proof of sizes is one of costs":
        "tests/checking/test_fewest_changes.py::test_a_proof_of_a_distance",
    "an overlap is not looked for": f"{_CLAIMS}::test_the_claim_is_refuted[24]",
    "a reason is believed": "tests/checking/test_format.py::test_another_reason_is_refuted",
    "what is shown need not be what was found":
        f"{_FORGERIES}::test_everything_shown_is_compared",
    "neighbours may have unknown labels":
        f"{_FILES}::test_neighbours_with_unknown_labels_are_refused",
    "support vectors may be of any shape":
        f"{_FILES}::test_support_vectors_that_do_not_fit_are_refused",
    "coefficients may be of other features":
        f"{_FILES}::test_coefficients_of_other_features_are_refused",
    "nothing is required of a model file":
        f"{_FILES}::test_coefficients_of_other_features_are_refused",
    "a tree may have a loop": f"{_FILES}::test_trees_that_would_crash_are_refused",
    "a tree may split on a feature it has not":
        f"{_FILES}::test_trees_that_would_crash_are_refused",
    "a search tree may be anything":
        "tests/models/test_damaged_files.py::test_a_search_tree_of_another_kind_is_not_made",
    "samples that have the target already are solved for": "tests/questions/test_already.py",
    "half of the room of a density": _DENSE,
    "every point is dense": f"{_DENSE}::test_where_the_density_is_high_enough",
    "shares of a blend may be negative": f"{_DENSE}::test_what_a_blend",
    "shares of a blend may add up to anything": f"{_DENSE}::test_what_a_blend",
    "the farthest neighbours are the nearest": f"{_DENSE}::test_what_a_blend",
    "missing values are taken for numbers": f"{_ARROW}::test_rows_that_cannot_be_read",
    "unique is written for its opposite": f"{_ARROW}::test_numbers_and_truths",
    "numbers are written where there is no point": f"{_ARROW}::test_numbers_and_truths",
    "a torn part counts as done": f"{_RUN}::test_going_on_does_only_what_is_left",
    "a last part has rows that do not exist": f"{_RUN}::test_going_on_does_only_what_is_left",
    "different runs are mixed": f"{_RUN}::test_other_data_is_not_mixed",
    "batches of no rows are begun": f"{_RUN}::test_what_is_missing_is_named_before_any_work",
    "a cheap bound prunes twice as much as it may": _CHEAP,
    "a cheap bound is the weakest of all": _CHEAP,
    "what is not proved prunes, too": _CHEAP,
    "the fewest values are believed": _CLAIMS,
    "a said number of values is believed": _CLAIMS,
    "kept values need not be the sample's own": _CLAIMS,
    "sufficient values are believed": _CLAIMS,
    "negative multipliers of bent rows are accepted":
        f"{_ONE_BENT}::test_multipliers_are_no_less_than_0",
    "what lies beyond the cap of bent rows counts as looked at":
        f"{_ONE_BENT}::test_nothing_is_shown_beyond_the_cap",
    "a curve is taken at its higher end": _ONE_BENT,
    "a number beside bent ones may fall without end":
        f"{_ONE_BENT}::test_a_number_beside_that_falls_without_end_shows_nothing",
    "curves are lowest at the ends of a box":
        f"{_ONE_BENT}::test_a_box_lies_in_rows_over_bent_columns",
    "where a curve is not defined it gains nothing":
        f"{_ONE_BENT}::test_where_a_curve_is_not_defined_nothing_is_known_of_a_gain",
    "negative multipliers of sums of parts are accepted":
        f"{_ONE_LEAF}::test_multipliers_of_sums_are_no_less_than_0",
    "a closed reach is all of the box": f"{_ONE_LEAF}::test_sums_show_no_more_than_their_reach",
    "steps of a column in single precision are doubles": "tests/geometry/test_singles.py",
    "steps finer than single precision are taken for its numbers": "tests/geometry/test_singles.py",
}  # fmt: skip


_SPLITS, _SIDES = "tests/proofs/test_single_splits.py", "tests/proofs/test_single_sides.py"
_LEAVES, _FORMS = "tests/proofs/test_single_leaves.py", "tests/proofs/test_single_forms.py"
_BENT = "tests/proofs/test_single_bent.py"
#: Tables with one line for each single check, quick enough to be tried first as a whole.
TABLES: dict[str, tuple[str, ...]] = {
    "proofs/cases/bent.py": (_BENT,),
    "proofs/supports/curves.py": (_BENT,),
    "proofs/supports/": ("tests/proofs/test_single_supports.py",),
    "proofs/cases/leaves.py": (_LEAVES, _BENT),
    "proofs/cases/": (_LEAVES, _SPLITS, _SIDES),
    "proofs/copositive/": (_FORMS,),
    "proofs/boxes.py": (_SPLITS, _BENT),
    "proofs/core.py": ("tests/proofs/test_whole_costs.py",),
    "proofs/sweep.py": (_SIDES,),
    "proofs/linear.py": (_SIDES,),
    "proofs/ensembles/": ("tests/proofs/test_single_trees.py",
                          "tests/proofs/test_inside_trees.py"),
    "proofs/": ("tests/proofs/test_single_forgeries.py", "tests/proofs/test_single_core.py",
                "tests/proofs/test_single_shapes.py"),
    "checking/claims.py": ("tests/checking/test_single_documents.py",),
    "checking/evidence.py": ("tests/checking/test_single_documents.py",),
    "checking/document.py": (
        "tests/checking/test_refusals.py", "tests/checking/test_single_documents.py",
        "tests/checking/test_alternatives.py",
        "tests/models/regressors/test_questions.py", "tests/api/test_text_explainer.py",
        "tests/checking/test_searched.py",
    ),
    "checking/alternatives.py": ("tests/checking/test_alternatives.py",),
    "checking/chances.py": ("tests/checking/test_chances.py",),
    "checking/ranges.py": ("tests/checking/test_single_documents.py",),
    "checking/reasons.py": ("tests/checking/test_single_reasons.py",),
    "checking/unknown.py": ("tests/checking/test_not_known.py",),
    "checking/": ("tests/checking/test_single_files.py", "tests/checking/test_absent.py",
                  "tests/checking/test_single_checks.py"),
}  # fmt: skip


def known_to_notice(mutant: Mutant) -> tuple[str, ...]:
    """Return the tests that are known to notice a mutant, and those quick enough to try first."""
    if mutant.breaks in NOTICED:
        return (NOTICED[mutant.breaks],)
    if not mutant.breaks.startswith("not checked: "):  # see `mutants.checks`
        return ()
    fits = [tests for start, tests in TABLES.items() if mutant.where.startswith(start)]
    return tuple(test for tests in fits for test in tests)


def suite_for(mutant: Mutant) -> tuple[str, ...]:
    """Return the tests for a mutant, in the order in which they are run."""
    fits = [start for start in FOLLOWS if mutant.where.startswith(start)]
    near = FOLLOWS[max(fits, key=len)]
    return tuple(dict.fromkeys((*known_to_notice(mutant), *near, *WIDE)))


#: Mutants that change nothing that a user could see, with the reason: ``(where, old, new)``.
EQUIVALENT: dict[tuple[str, str, str], str] = {
    (
        "proofs/supports/sufficient.py:RivalSetProofs._one",
        "differs = _features(self.rivals[i] != x, domain) & good[:, None]",
        "differs = _features(self.rivals[i] != x, domain)",
    ): (
        "a rival that does not count still asks for 0 features, which every set has: its row never "
        "closes a branch, and rows that it is added to ask for less"
    ),
    (
        "proofs/cases/branch.py:Replay._is_lossless",
        "        k = np.flatnonzero(split & ~in_group & ~out)",
        "        k = np.flatnonzero(split & ~in_group & True)",
    ): "a split whose sides share an end passes what is asked of the others, too",
}
