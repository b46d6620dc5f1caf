"""Exact counts: what an operation runs, by function and instruction, as an emulator counted it."""
