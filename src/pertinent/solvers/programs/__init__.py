"""One place for each foreign solver: HiGHS, Clarabel and SCIP are called here and nowhere else."""
