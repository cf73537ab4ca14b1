"""Tree ensembles of all libraries, read into the one form of `pertinent.geometry.ensembles`."""

from pertinent.models.trees import boosting, forests  # noqa: F401 - each registers its family
