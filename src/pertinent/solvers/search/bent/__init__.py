"""Projections onto rows of bent columns."""
