"""Files from outside: read under limits, confined, cleaned, and kept by hash."""
