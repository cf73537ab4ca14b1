"""Copositive matrices: the multipliers that prove a curved answer optimal."""
