"""How mixtures are fitted, checked before any work."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pertinent.exceptions import InputError

COVARIANCE_TYPES = ("full", "tied", "diag", "spherical")


@dataclass(frozen=True)
class Recipe:
    """How the mixtures are fitted; see `pertinent.Plausibility`."""

    n_components: int | str
    covariance_type: str
    quantile: float
    projection: int | str | None
    random_state: int | None
    standardize: bool
    max_components: int
    reg_covar: float | None

    def check(self) -> None:
        """Refuse what cannot be meant."""
        n = self.n_components
        if not (n in ("bic", "cv") or (isinstance(n, int | np.integer) and n >= 1)):
            raise InputError(
                f"n_components must be 'bic', 'cv' or an integer of at least 1. Got {n!r}."
            )
        if self.covariance_type not in COVARIANCE_TYPES:
            raise InputError(
                f"covariance_type must be one of {COVARIANCE_TYPES}. Got {self.covariance_type!r}."
            )
        if not 0 <= self.quantile <= 1:
            raise InputError(f"quantile must be a number in [0, 1]. Got {self.quantile!r}.")
        p = self.projection
        if not (p in (None, "pca") or (isinstance(p, int | np.integer) and p >= 1)):
            raise InputError(
                f"projection must be None, 'pca' or an integer of at least 1. Got {p!r}."
            )
        if not self.max_components >= 1:
            raise InputError(f"max_components must be at least 1. Got {self.max_components!r}.")
        if self.reg_covar is not None and not self.reg_covar >= 0:
            raise InputError(f"reg_covar must be at least 0. Got {self.reg_covar!r}.")
