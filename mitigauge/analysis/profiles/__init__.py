"""Profiles: captures of perf (capture), how they are kept (store), two groups compared (diff)."""
