"""Points proposed by a solver, judged, and solved again with a larger margin."""
