"""The service's HTTP face."""
