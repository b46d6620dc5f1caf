"""Tables of an experiment: one builder a kind."""
