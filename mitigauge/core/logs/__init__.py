"""Logs of processes: their form, their levels, and what never stands in them."""
