"""Every tolerance of the solvers, with what it stands for; how much work they do stands with them.

A search may be wrong by what it takes for rounding: the proofs decide. But where it takes less for
rounding than the proofs do, it makes claims that they refuse. `tests/solvers/test_tolerances.py`
holds the inequalities between these numbers, those of the proofs, and the gaps of an answer.
"""

from __future__ import annotations

# What a claim says, as a share of the cost of the best point: a little less than all of it closes,
# and must stay within the gap of an optimal answer (1e-4, convex cells 1e-6).

#: Along a line, where the nearest root is known up to rounding.
PROVED_ON_LINE = 1 - 1e-9
#: By copositive forms and by halving; and with all the effort there is.
PROVED, PROVED_AT_LAST = 1 - 4e-5, 1 - 9e-5
#: By boxes of separable rows; and of a convex one.
PROVED_BY_BOXES, PROVED_BY_CONVEX_BOXES = 1 - 5e-5, 1 - 2e-7
#: What closed boxes of separable rows show is claimed this much lower: sums of costs are rounded.
CLAIMED_BY_BOXES = 1 - 1e-11
#: A case of a search is closed this far below the best cost: first, and after many cases.
CASE_EXACT, CASE_CLOSED = 1e-9, 5e-5
#: Of rows over bent columns a box is closed this far below the best cost; a row may look at so many
#: boxes, as far away as such a cost, and adds candidates to each so often.
BENT_CLOSED, BENT_NODES, BENT_REACH, BENT_ROUNDS = 3e-5, 400, 2.0**12, 12
#: Curves that add so many times more far away than at the sample are steep: points are then looked
#: for within these costs first.
BENT_STEEP, BENT_LOOKS = 2.0**30, (1.0, 16.0, 256.0)
#: A mix of which one value has a larger share is nearly this value.
BENT_LOPSIDED = 0.9
#: Of mixes that miss their rows by as much, the wider one is split: its width counts as this much.
BENT_WIDTH = 1e-9
#: Rounds of the search for the multipliers of a mix, after which what is known is enough.
MIX_ROUNDS = 60
#: Shares of a mix below this are none; candidates that are better by less, relatively, are not; and
#: the least by which a row counts as exceeded, as a share of what it adds up.
NO_SHARE, MIX_SAME, MIX_EXCEEDED = 1e-9, 1e-12, 1e-13
#: How often rows that a mix misses, taken as a point, are asked for by more.
BENT_MEANS = 4
#: In how many parts the way of a number back to its center is cut, again and again.
BENT_CUTS = 33
#: Boxes of tree ensembles are closed this share below the best cost.
CLOSER = 1e-10

# Which of two costs is smaller, as a share of them.

#: A point is worth proving, instead of the best one known, if it costs this much less.
BETTER = 1e-9
#: A point is kept, instead of the best one known, if it costs this much less: more than rounding.
PROGRESS = 1e-12
#: A step made exact is taken, instead of the one it was made from, if it costs no more than this
#: above it: what interior points leave.
NO_WORSE = 1e-6
#: Costs of two pieces this close are the same: the first piece wins.
SAME_COST = 1e-9
#: What a move that costs nothing counts as, in units of cost: gains are divided by it.
FREE = 1e-12

# Rounding, as a share of the terms that were added up: more than the proofs allow for.

#: A root satisfies its own row up to this, and a row is violated beyond it.
ROOT_ROUNDING = 1e-12
#: What a point may miss a linear row or the edge of a bin by, and move by, if nothing but rounding
#: is at work.
ROUNDED = 1e-12
#: Values of rows in the middle of a box that is halved.
MIDDLE_ROUNDING = 2e-13
#: A sum that is to be positive all over the bounds; and what cancellation may leave of the terms of
#: a slope towards an open side, which then counts as far as this many times ``1 + |x|``.
RAY_ROUNDING, CANCELLED, FAR = 2e-13, 5e-10, 2e6
#: The same sum over the box of a case, in which few columns are left open.
CASE_RAY_ROUNDING = 1e-13
#: Multipliers that are scaled down to meet a weight end this much below it: two roundings.
SHRUNK = 1.0 - 4e-16
#: A combination of rows that is to be convex, for each pair of features; its value at a point.
CONVEX_ROUNDING, COMBINED_ROUNDING = 2e-14, 2e-14
#: A separable row, for each feature, where it is asked what boxes or a sweep show in the end.
ROW_ROUNDING = 2e-14
#: The same while boxes are split. Where a row is 0 at the corner of a box, a multiplier of 1e14
#: would else close the box by rounding alone.
BOX_ROUNDING = 4e-14
#: A box is not split along a feature that it is narrower in than this, relative to what is to be
#: proved: the bound, 5e-5 below the best cost, does not fail by so little.
THIN = 1e-6
#: Nor along one that it is narrower in than this, relative to its ends: rounding.
NO_WIDTH = 1e-12
#: All of a box, looked at as a ball, has a radius this share larger than its corners ask for: of
#: copositive forms, and of separable rows.
WHOLE, WHOLE_SEPARABLE = 1e-9, 1e-12
#: And all that can be chosen, where no point is known.
WHOLE_CHOICE = 1e-9
#: An entry of the matrix of a copositive form.
ENTRY_ROUNDING = 3e-14
#: A matrix is positive definite if its eigenvalues, scaled to a diagonal of 1, exceed this share
#: for each row; and where a part of it is chosen, this.
DEFINITE, CHOSEN_DEFINITE = 1e-13, 1e-6
#: The smallest coefficient asked of a form of varying multipliers, relative to its terms.
POSITIVE = 1e-7
#: The unit of a row that is 0 at the start, as a share of what it reaches, and of one that is 0
#: everywhere.
LEAST_UNIT, NEVER_ZERO = 1e-9, 1e-90
#: A corner's step leaves its bound beyond this share of the radius.
BEYOND = 1e-9
#: What an entry of the diagonal that is not positive is lifted to.
LIFTED = 1e-9
#: How much of each row that is convex is added until the combination is safely convex.
SAFER = (0.0, 1e-10, 1e-8, 1e-6, 1e-4)

# When two numbers are equal, or a number is nothing.

#: Entries of a form off its diagonal, up to this share of the largest, are rounding.
NEARLY_DIAGONAL = 1e-12
#: A reduced cost below this share of the feature's weight counts as zero.
FLAT = 1e-9
#: A second optimum is farther away than this share of the coordinates.
APART = 1e-7
#: Columns, divided by their largest entry, are independent if their singular values exceed this.
INDEPENDENT = 1e-10
#: A row is an ellipsoid if its eigenvalues exceed the first share of its entries; its extent is
#: taken larger by the second.
ELLIPSOID, ROOM = 1e-8, 1e-6
#: Coefficients of a row below this share of its largest are none.
NO_COEFFICIENT = 1e-12
#: Values this close to the lattice, relatively or in steps, stand on it.
ON_LATTICE = 1e-9
#: Multipliers below this share of the largest play no part in a ray.
NO_MULTIPLIER = 1e-12
#: A row counts as a ball if what is left over of its slope is below this share of it.
NO_SLOPE = 1e-9
#: Coordinates of a blend closer to the center than this, relatively, are at the center.
AT_CENTER = 1e-10
#: Slopes of two features of a closed form are the same up to this share.
SAME_SLOPE = 1e-12
#: A leaf that gains nothing may be the only one left: it counts as gaining this.
LEAST_GAIN = 1e-9
#: Eigenvalues, and entries of eigenvectors, below this share of the largest are kept from SCIP.
NO_CURVE, NO_ENTRY = 1e-14, 1e-15
#: SCIP's values count as unchanged if they are this close to the own ones, relatively.
SCIP_SAME = 1e-5
#: SCIP looks at a ball, or a box, this much larger than that of the best point known.
SCIP_LARGER, SCIP_LARGER_BOX = 1 + 1e-5, 1 + 1e-6
#: A row whose numbers are all smaller is handed to SCIP divided by this.
LEAST_SIZE = 1e-12

# When a method has arrived.

#: Relative change of the cost at which the convex-concave procedure has converged.
CONVERGED = 1e-6
#: Rows that the procedure takes for satisfied, up to this share of their terms; and what Newton's
#: method may leave of that: a point that is outside by more is given up.
NEARLY_INSIDE, LEFT_OVER = 1e-6, 1e-9
#: How far inside the tight rows Newton's method aims, one after the other, until a point is inside.
AIMS = (0.0, 1e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10)
#: The same, of a step that is nearly optimal: at once.
FIRST_AIM = 1e-14
#: By how much steps of separable rows grow, one after the other, until a point is inside; and those
#: of rows over numbers and categories.
GROWTHS = (1e-15, 4e-15, 1.6e-14, 6.4e-14)
CHOICE_GROWTHS = (0.0, *GROWTHS, 1e-12, 1e-10)
#: A multiplier is good enough where another can show no more than this share of what it shows.
GOOD_MULTIPLIER = 1e-12
#: Newton's method is done once a change is below the first share of the step; below the second it
#: may grow again.
NEWTON_DONE, NEWTON_NEAR = 1e-15, 1e-9
#: Rows closer to 0 than this share of their terms may have a multiplier.
TIGHT = 1e-5
#: No feature would like to move if none gains more than this share of its cost by moving.
STATIONARY = 1e-7
#: Moves that count as dust, relative to the largest; and those that interior points leave where no
#: step could be made exact.
DUST, INTERIOR_DUST = 1e-6, 1e-9
#: The same, one after the other: near an optimum, and far.
FINE_DUST, COARSE_DUST = (1e-5,), (DUST, 1e-4, 1e-3)
#: Gap and residual at which interior points are done.
INTERIOR_GAP, INTERIOR_RESIDUAL = 1e-9, 1e-9
#: The least share of centering in each of their steps, and the least size of their first one.
CENTERED, LEAST_START = 1e-4, 1e-8
#: Multipliers look like a ray if their sum stays above this share of it, within `EMPTY_REACH`.
LOOKS_EMPTY = 1e-9
#: A feature left out of a cone program is taken in if its slope exceeds its cost, 1, by this.
WANTED = 1e-6
#: A softmax row exceeds 0 by no more than this: inside; and nearly, so that tangents moved in cost
#: next to nothing.
SOFTMAX_INSIDE, SOFTMAX_NEARLY = 1e-12, 1e-8

# The dual simplex, in scaled units (`linear.simplex.scaled`).

#: A row of ``A t >= r`` counts as violated beyond this many times the objective.
FEASIBILITY = 1e-12
#: Pivots smaller than this (times the largest entry of the direction) are never taken.
PIVOT = 1e-9
#: Reduced costs closer to a breakpoint than this stand on it.
BREAKPOINT = 1e-13
#: A price and a pull whose ratios agree to this relative precision tie; the price wins.
RATIO_TIE = 1e-12
#: Of features whose breakpoints agree the first comes first: each counts as smaller than the one
#: before it by the first share, and all together by no more than the second.
BIAS, BIAS_OF_ALL = 1e-14, 1e-11
#: An answer whose primal, dual or gap error is larger is not handed out.
ACCEPT = 1e-9
#: What HiGHS may leave of rows and of reduced costs.
HIGHS = 1e-9

# Reach, and columns that cost nothing.

#: How far an endless feature is followed to see whether a problem may be empty.
EMPTY_REACH = 1e4
#: What a column that costs nothing pays, as a share of the least cost of all others.
LITTLE = 1e-3
#: A ray speaks of the points whose columns lie within this many times ``1 + |start|``.
RAY_REACH = 1e6
#: The first candidate beside the center of a number that is bent, in units of 1 / weight.
NEAREST = 2.0**-12
#: A share of the way back to the center that is worth no move of a number without steps.
NO_WAY = 1e-7
