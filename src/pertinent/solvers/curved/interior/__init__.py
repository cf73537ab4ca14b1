"""One ellipsoid and linear rows: interior points, all centers at once."""
