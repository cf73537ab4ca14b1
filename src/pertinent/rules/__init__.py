"""What a user allows: constraints, relations, and whether a point obeys them."""
