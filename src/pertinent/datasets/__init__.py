"""Small real data sets, embedded so that examples run offline and in raw units."""

from pertinent.datasets._load import Dataset, load_ames, load_credit

__all__ = ["Dataset", "load_ames", "load_credit"]
