"""Branch and bound over cases: whole numbers, categories, bins, rules of change."""
