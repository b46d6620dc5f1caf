"""What a revision is asked beside its experiment: cost by patch, and what it chooses where."""
