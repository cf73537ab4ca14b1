"""A model made ready: its regions, margins, what a question asks, the judge. No solver."""
