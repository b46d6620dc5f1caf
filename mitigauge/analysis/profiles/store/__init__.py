"""Profiles in the database: names, shared trees of frames, packed counts."""
