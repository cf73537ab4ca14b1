"""Tree ensembles of all libraries, read into the one form of `pertinent.geometry.ensembles`."""

from pertinent.models.trees import forests  # noqa: F401 - registers its family
