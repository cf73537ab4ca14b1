"""Tables of any kind in and out, columns by name, base values and weights."""
