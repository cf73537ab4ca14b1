"""Proofs by cases: a tree of splits that lose nothing, each leaf closed by itself."""
