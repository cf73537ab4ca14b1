"""Exit codes of the command line.

0
    Done; for ``check``: every claim was checked and holds.
2
    The command was not understood.
3
    A file, a model or data cannot be used; the message says why.
4
    Some rows got neither an answer nor a proof that there is none.
5
    ``check``: a claim of an explanation is not true of the model.
6
    ``check``: nothing is wrong, but some proof cannot be checked here.
"""

DONE, MISUSED, REFUSED, UNANSWERED, REFUTED, UNCHECKED = 0, 2, 3, 4, 5, 6
