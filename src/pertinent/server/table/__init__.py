"""The rows that are served, and what is known of their columns."""
