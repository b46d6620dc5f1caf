"""Hosts: what they are, and what they were when they ran."""
