"""Numbers that the searches for sets of features are tuned with, in one table.

What must hold between them, and between them and the checker's, is tested
(``tests/questions/test_tolerances.py``). None of them can make a claim false: the checker has its
own.
"""

from __future__ import annotations

# Rounding: relative to the size of the numbers that were added up.
#: Needs are lowered by this share of the numbers they are made of, so that rounding cuts nothing.
SLACK = 1e-13
#: A row that is this little above 0 at one of its roots holds there.
ROOT_ROUNDING = 1e-13
#: A root this close to a bound is the bound.
AT_BOUND = 1e-15
#: By how much a projection's bound may fall short of the cost it proves.
COST_ROUNDING = 1e-12
#: A slope that exceeds a weight by this share equals it, up to rounding.
EQUAL_SLOPE = 1e-9

# Costs: relative to the best cost.
#: A support must be better by this share to replace the best one: below it is a tie.
TIE = 1e-9
#: The bound of an open branch of alternatives may stand this share below the cost it proves.
ALTERNATIVES_GAP = 1e-6
#: How much farther than the search's own point a local method may look.
HINT_ROOM = 1e-4

# Reach.
#: Where a number has no end, values within this many times ``1 + |start|`` are looked at.
REACH = 1e6

# Work: nodes, rows and candidates.
#: Nodes after which HiGHS is asked; the same on every machine.
EASY = 3_000
#: Nodes that HiGHS may look at for a support, at most; and nodes times entries of the rows, which
#: is what they take: 100 rows of 100 features, 100 nodes, some seconds. The same on every machine.
MIP_NODES, MIP_WORK = 20_000, 1_000_000
#: Candidates judged together.
CANDIDATES = 64
#: Parts of a support's range that are searched by themselves.
MOST_PARTS = 64
#: Rivals after which a sample is given up.
MOST_RIVALS = 2_000
#: Sets of features that may be looked at only to prove an answer that is known already.
FEW_SETS = 200
#: Margins tried when predict refuses a point of the margin asked for.
FEWEST_RETRIES = 2

# Memory: numbers held at once.
#: While searching many samples: 16 MB.
BATCH_NUMBERS = 2_000_000
#: In one step of the walk: what fits in the processor's cache.
STEP_NUMBERS = 120_000
#: The walk keeps bounds for every so many places only.
BLOCK = 8
#: Children of a problem that the walk looks at before its other ones.
FIRST = 2
#: Candidates that are judged between two looks at the clock.
JUDGED_AT_ONCE = 256

# Ranges and boxes around answers.
#: An end so close to the answer's own value (in scales) is that value.
NEAR = 1e-8
#: Where spans are cut beside a value, as shares of the way to their end.
SHARES = (1e-9, 1e-6, 1e-3, 0.03)
#: Ends found by halving are this precise, in scales of their column.
PRECISION = 1e-8
#: An endless side that a row cannot tell apart from a long one is this many scales long.
LONG = 1e4
#: A span is asked for with this much more room than rounding needs.
SPAN_SLACK = 1e-9
#: What relations round by along one column, and over a box.
RELATION_UNIT, RELATION_BOX_UNIT = 1e-14, 1e-15
#: Exponential rows end this far below 0.
EXPONENTIAL = 4e-12
#: Multipliers that are scaled down to meet a weight end this much below it: two roundings.
SCALED = 4e-16
#: How spans are made smaller after each refusal: room for rounding, the share that is kept of them,
#: and how far they keep off both ends, as a share.
SMALLER_SPANS = (
    (2.5, 1 - 1e-12, 0.0), (2.5, 1 - 1e-12, 1e-12), (16.0, 1 - 1e-9, 1e-10),
    (16.0, 1 - 1e-6, 1e-8), (16.0, 0.9, 5e-7), (16.0, 0.9, 5e-6),
)  # fmt: skip
