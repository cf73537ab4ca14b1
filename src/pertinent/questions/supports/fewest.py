"""Fewest features, then the closest values: eq. 3 itself, and negatives with few changes.

Positives rest at the baseline and negatives at the sample; both pay for the distance of what is
on to the sample. A support is a set of features; a category or a binned number owns several
columns. Where every column is a feature, samples for which one feature suffices are answered by a
closed form, and positives whose exact values already need no more than the bound by sorting or
search. The rest is left to `supports.pool`. The point itself comes from
`pertinent.setting.nearest.flow` with the other features held, so it has passed the model's predict.
"""

from __future__ import annotations

from pertinent.questions.supports.alternatives import other_supports
from pertinent.questions.supports.batch import Batch, Fewest, FewestAsk
from pertinent.questions.supports.proving import decide_unique, prove
from pertinent.setting.setting import Setting
from pertinent.tables.table import Table


def fewest_features(setting: Setting, table: Table, ask: FewestAsk) -> Fewest:
    """Return, for each sample, the smallest support and the closest point it holds."""
    batch = Batch(setting, table, ask)
    batch.solve()
    prove(batch)
    if ask.alternatives:
        batch.out.alternatives = tuple(other_supports(batch, i) for i in range(len(table)))
    decide_unique(batch)
    return batch.out
