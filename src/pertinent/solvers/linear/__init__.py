"""Linear rows: closed forms, the dual simplex method, HiGHS."""
