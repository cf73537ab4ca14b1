"""A model served over HTTP: a page to explore it, and an API; extra ``serve``."""
