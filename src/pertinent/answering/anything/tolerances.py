"""The tolerances of the search over ``predict``; no claim rests on them."""

#: Where a point does not hold by itself: how much farther others are tried, as shares of its way.
BEYOND = (1e-9, 1e-6, 1e-4, 1e-2, 0.1, 0.5)
#: A round that saves no larger share of the cost is the last.
SAVED = 2e-3
