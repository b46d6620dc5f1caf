"""Patch series: revisions as mails, what differs between them, and what measures each."""
