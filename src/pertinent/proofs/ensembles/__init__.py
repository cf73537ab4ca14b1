"""Proofs about sums of trees: the branchings of a search, replayed with bounds of their own."""
