"""Quadratic rows that are sums over features."""
