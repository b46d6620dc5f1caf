"""The weekly report of the fleet: what changed, how sure it is, and what was not measured."""
