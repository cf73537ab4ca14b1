"""The bounded dual simplex method, all centers in lock step."""
