"""Quadratic and exponential rows."""
