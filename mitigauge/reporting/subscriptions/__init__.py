"""Who wants to hear of what, by which way, and what was told."""
