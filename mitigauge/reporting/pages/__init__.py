"""What pages and commands show, joined from several nouns."""
