"""What SCIP is asked, where it is installed."""
