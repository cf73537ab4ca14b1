"""Smallest sets of features."""
