"""Random models, rules and questions, judged by whatever is independent of the library."""
