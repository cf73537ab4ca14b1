"""How far the values of an answer may move: searched for here, claimed in `setting.claims`."""
