"""The two plain questions, from what is asked to what is claimed: the nearest points of a class.

Everything here is trusted. The limits, the regions and the labels are made here; a `Search` is
asked for points and for the numbers of proofs; the model and the rules judge the points, and the
proofs alone decide status and bound. A mistake in the search may cost an answer; it makes no claim.
"""
