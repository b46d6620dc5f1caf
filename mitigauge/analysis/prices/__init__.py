"""Prices: what events of a processor cost, and what that predicts of a change that was counted."""
