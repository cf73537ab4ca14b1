"""How far values may move: as shown, beside printed values, and as stored."""
