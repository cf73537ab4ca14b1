"""Points pulled closer to the center: what a search over boxes has to be better than."""
