"""Proofs about sets of features: no smaller one will do."""
