"""Points found by asking ``predict``: for models of which nothing else is known."""
