"""One answer of `pertinent_positives` or `pertinent_negatives` in words."""

from __future__ import annotations

from pertinent.setting.results import Negatives, Positives
from pertinent.summary.answer import summarize_answer
from pertinent.summary.words import Wording, shown
from pertinent.views.answer import answer_words


def answer_text(
    results: Positives | Negatives,
    row: int = 0,
    length: str = "medium",
    wording: Wording | None = None,
) -> str:
    """Return one positive or negative in words, whichever method it was asked with.

    Parameters
    ----------
    results : Positives or Negatives
        Of `pertinent_positives` (methods "two-phase", "strict", "exact", "sufficient") or
        `pertinent_negatives` (norms "l1" and "l0").
    row : int
    length : {"short", "medium", "long"}
        One sentence; the answer and what is proved of it; the alternatives and numbers as well.
    wording : Wording, optional

    Examples
    --------
    >>> import pertinent
    >>> from pertinent.api.answer_text import answer_text
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression(max_iter=1000).fit(X, y)
    >>> pp = pertinent.pertinent_positives(model, X[:1], method="strict", baseline="median", data=X)
    >>> print(answer_text(pp, 0, "short"))
    Enough for 0: x2 1.4 (1 of 4 features, proved fewest).
    """
    return answer_words(shown(summarize_answer(results, row, wording)), length)
