"""One linear row over whole numbers and categories: a knapsack with choices, sample by sample."""
