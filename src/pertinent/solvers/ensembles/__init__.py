"""The nearest points of a class of a tree ensemble: branch and bound over cells."""
