"""Workloads as their files declare them."""
