"""Steps of a pipeline: how each one maps columns, exactly, in raw units."""
