"""The questions: positives and negatives of every kind, as bare results."""
