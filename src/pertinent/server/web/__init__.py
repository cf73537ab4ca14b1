"""What speaks HTTP: routes, bodies, limits, problems."""
