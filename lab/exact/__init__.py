"""Exact counts: a plugin in the emulator that counts every block which a host runs."""
