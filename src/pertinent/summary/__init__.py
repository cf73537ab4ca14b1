"""What the views show: one plain dictionary, asked of the model, rounded validly, stored."""
