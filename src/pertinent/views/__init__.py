"""One summary, many views: text, plot, HTML, JSON, tables and a report.

Each view is a function of the plain dictionary that `summary.summarize` builds (or, for many
samples, `population.summarize_population`), so that all say the same and none can say more than
is known. `Explanation` and `Explanations` offer them as methods.

Answers of `pertinent_positives` and `pertinent_negatives` alone, exact ones included, are put into
words by `answer.answer_words`.
"""
