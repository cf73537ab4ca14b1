"""Models of what each class looks like: Gaussians, counts, truth values, categories."""

from pertinent.models.bayes import discrete, quadratic  # noqa: F401 - each registers its family
