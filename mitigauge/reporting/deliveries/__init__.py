"""Mails that were handed over: to whom, and what came of it."""
