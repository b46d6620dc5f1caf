"""One experiment with all that belongs to it as a file, and back."""
