"""The source, broken one line at a time: and which tests notice."""
