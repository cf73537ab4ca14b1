"""Why there is no answer: as data, and read off proofs."""
