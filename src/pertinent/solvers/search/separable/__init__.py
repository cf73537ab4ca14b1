"""Separable rows over whole numbers and categories: branch and bound with multipliers."""
