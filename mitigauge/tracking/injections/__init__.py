"""Slow-downs of known size that the service measures without knowing of them."""
