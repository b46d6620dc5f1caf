"""The reply to a revision of a patch series."""
