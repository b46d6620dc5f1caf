"""One search over everything that has a number or a name."""
