"""Results: what a case gave within a boot."""
