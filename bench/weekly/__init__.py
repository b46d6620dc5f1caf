"""The weekly report, over a fleet of any size."""
