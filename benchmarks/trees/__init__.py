"""Tree ensembles: every line of what they must show, with pass or miss."""
