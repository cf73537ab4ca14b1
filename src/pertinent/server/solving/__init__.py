"""What solves requests: processes that have loaded the model once."""
