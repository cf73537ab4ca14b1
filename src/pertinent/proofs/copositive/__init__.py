"""Proofs that a quadratic row keeps its sign on an L1 ball."""
