"""The one place that decides what is claimed of an answer: its status and its bounds.

Searches find points and the numbers of proofs, and say what they make of them. What is handed out
is decided here, from the question, the points as they are and the certificates: an answer stays
"optimal" only where a certificate about this question shows it, "infeasible" only where one shows
that there is none, a bound is never larger than what is proved, and a point that the judge did not
accept is taken back. A mistake in a search may cost an answer; it makes no claim.
"""
