"""Features that are sufficient whatever the others are."""
