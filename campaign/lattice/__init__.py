"""Answers on small lattices, judged by trying every point.

All columns have few values (whole numbers, one decimal, steps of 2, categories), so that the
model's own ``predict`` can be asked about each point that the rules allow. Whatever is said of an
answer is then looked at: that it is the smallest, that there is none, that a bound, a range, a box,
an alternative, a menu or a named conflict holds. Nothing here asks the library how it searches or
proves.
"""
