"""Modes under test."""
