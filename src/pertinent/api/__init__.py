"""Where all meet: the public functions, `Explainer`, `Explanation`, `Explanations`."""
