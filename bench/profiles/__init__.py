"""Profiles: folding, storing and comparing them, beside FlameGraph and inferno."""
