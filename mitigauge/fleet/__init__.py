"""Hosts: what they are, what they were when they ran, and who holds them."""
