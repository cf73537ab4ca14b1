"""Models made of models: votes, binary models for classes or pairs of them, calibration."""

from pertinent.models.combined import (  # noqa: F401 - each registers its family
    calibrated,
    constant,
    one_vs_one,
    one_vs_rest,
    output_code,
    searched,
    svc,
    voting,
)
