"""The sums of trees that a box must lie in, with what steps before them round."""

from __future__ import annotations

from pertinent.geometry.ensembles import EnsembleRegion, as_ensemble
from pertinent.geometry.rounding import ROUNDOFF, ROUNDOFF_SINGLE
from pertinent.models.steps.pipeline import final_step
from pertinent.setting.region_key import Is
from pertinent.setting.setting import Setting
from pertinent.tables.table import Table


def sums_of(setting: Setting, label: int, table: Table) -> list[tuple[EnsembleRegion, float]]:
    """Return the regions of trees that a box must lie in, each with its share of rounding.

    The class itself; with a margin asked for, that as well. Empty for all other kinds of models,
    and where points must be dense: nothing is shown of both together. Trees compare the
    numbers that they are given, to the bit; a step before them rounds.
    """
    if setting.within is not None:
        return []
    margins = [0.0] + [setting.asked_margin] * (setting.asked_margin > 0)
    found = [as_ensemble(setting.region(Is(label), margin)) for margin in margins]
    share = 0.0
    if final_step(setting.model) is not setting.model:  # a pipeline, perhaps in a search
        single = setting.sums_in_single(table)
        share = (setting.features.dim + 4) * (ROUNDOFF_SINGLE if single else ROUNDOFF)
    regions = [region for region in found if region is not None]
    return [(region, share) for region in regions] if len(regions) == len(found) else []
