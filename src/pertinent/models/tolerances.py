"""The tolerances of what models and their steps add up; tests/models/test_tolerances.py."""

#: A difference of two forms is written as one form where at least this share of them is left: what
#: is less is partly what the subtraction rounded.
CLEAR = 1e-3
#: What only rounding explains, as a share of a range that a step cuts off.
CUT_OFF = 1e-9
#: Sums of trees that differ by more than this have different probabilities: those of XGBoost are
#: in single precision, those of LightGBM in double.
LATE_SINGLE, LATE_DOUBLE = 2.0**-22, 2.0**-51
#: Ends at which two steps cut a feature off are the same within this share.
SAME_EDGE = 1e-9
#: Behind a scaler, answers keep off the edges of bins by this share of the numbers added up.
OFF_EDGE = 1e-13
#: Of texts whose norm is in ranges: these overlap by this share, and rows with a chord or a tangent
#: in place of the norm are wider by this share of their terms.
RANGES_OVERLAP, ROWS_WIDER = 1e-6, 1e-9
#: Nearer to a boundary than this share of its terms the empty text is a part of its own.
EMPTY_TIE = 1e-9
#: How close to their ends scikit-learn cuts normal quantiles off.
NEAR_END = 1e-7
