"""Every tolerance of the trusted base, with what it stands for.

Three kinds. Rounding: a computed value may be off by this share of the terms it was added up from,
and a proof has to hold with that much to spare. Reach: where mathematics speaks of infinity, so far
is looked at. Effort: how much work a claim may ask of whoever checks it.

`tests/proofs/test_tolerances.py` holds the inequalities between them, and between them and those of
the searches: a search has to aim at more than the check asks for.
"""

from __future__ import annotations

# Rounding, as a share of the terms that were added up.

#: Sums of multipliers times rows: ``y'(G x - h)`` of a Farkas ray, the gains of a support.
SUMS = 1e-13
#: A sum of curved rows, for each feature.
CURVED = 1e-14
#: An entry of the matrix of a copositive form, for each corner; and a tenth of it for each row that
#: is added up, and for each split of an edge.
ENTRY = 1e-14
#: Values of rows in the middle of a box that is halved.
MIDDLE = 1e-13
#: Where mathematics has 0, sums leave a slope of up to this share of their terms.
CANCELLED = 1e-9
#: Multipliers that are scaled down to meet a weight end this much below it: two roundings.
SCALED = 4e-16
#: Both ends of a range, computed by a division, may be off by this share.
END = 1e-12
#: A root of a quadratic, and the value there, as NumPy computes them.
ROOT = 1e-9

# When two numbers are equal, or a number is nothing.

#: Slopes within this share of a weight equal it up to rounding.
EQUAL = 1e-9
#: Multipliers are made smaller by this share where a slope equals a weight.
SMALLER = 1e-12
#: Entries of a quadratic form below this share of the largest one are rounding.
NOTHING = 1e-12
#: Columns are independent above this share of the largest entry.
INDEPENDENT = 1e-10
#: Rows determine a point, up to what they leave open, if their least singular value, columns scaled
#: to a length of 1, exceeds this.
DETERMINED = 1e-7
#: A matrix is positive definite if its eigenvalues, scaled to a diagonal of 1, exceed this share
#: for each row (and for a sum of rows, for each pair of features).
DEFINITE = 1e-14
#: A row is an ellipsoid, whose extent is computed by an inverse, if they exceed this.
ELLIPSOID = 1e-8

# Reach.

#: A ray, or a feature without an end, is looked at within this many times ``1 + |x|`` of the start.
REACH = 1e6
#: What radii and multipliers of a copositive form lie between: far from where numbers become so
#: small that rounding is no longer relative to them. A combination's terms are at least the last.
RADII, MULTIPLIERS, SMALLEST = (1e-60, 1e60), (1e-100, 1e100), 1e-150
#: What a column that costs nothing pays, as a share of the least of all costs.
LITTLE = 1e-3

# Effort.

#: Branches after which a refutation of supports counts as not made; the first so many are looked at
#: with bounds that are made in no time.
MOST_BRANCHES, FIRST_BRANCHES = 200_000, 500
#: Open boxes at any time, and rounds of halving, after which a claim counts as not proved.
MOST_BOXES, MOST_ROUNDS = 8_000, 160
#: The same where all but a box around an answer shall be closed: another answer never is.
NEAR_BOXES, NEAR_ROUNDS = 2_000, 60
#: Features that may move where boxes are halved.
MOST_HALVED = 6
#: What a claim about boxes may be lowered by, relative to its distance from what is known without.
LOWERED = (0.0, 1e-6, 5e-5)
#: With more corners than this a form of varying multipliers has too many coefficients.
MOST_CORNERS = 128
#: Boxes of a separable row, at any time, after which an answer counts as not shown to be the only
#: one; and in how many steps a multiplier is looked for, up to how many times the least one.
AXIS_BOXES, MULTIPLIER_STEPS = 200, (16, 1e3)

#: What all numbers that are seen through curves may be off by together, as a share of the claim;
#: next to nothing, for the ends of boxes and where nothing is claimed but that they are empty.
CURVES, PIECE = 1e-5, 1e-12
#: Pieces of numbers seen through curves that are halved at once, and how often.
MOST_PIECES, PIECES_ROUNDS = 400_000, 80

# Tree ensembles, boxes, and bounds that are lowered.

#: A claim is met by costs that are this share smaller: sums of costs are rounded.
ENSEMBLE_COSTS = 1e-12
#: Gains below this count as this much: a leaf that gains nothing may be the only one left.
LEAST_GAIN = 1e-9
#: Steps whose weights are a smaller share than this of their box's are paid by nobody.
NEGLIGIBLE = 1e-7
#: What sums of a few thousand terms in double precision may be off by.
ROUNDED = 1e-12
#: What logarithms and exponentials are rounded by, beside their arguments.
LOGARITHMS = 1e-12
#: A bound that is lowered by no more than this share need not be lowered by less.
LITTLE_LOST = 1e-10
#: What a claim made for points in single precision, a margin inside, is lowered by: nothing, or a
#: share of the coordinates.
LOWERED_TREES = (0.0, 1e-12, 3e-7, 3e-6)
#: A point lies in a cell, for `check`, if no row is missed by more than this.
INSIDE = 1e-9
