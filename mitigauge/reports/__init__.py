"""Answers in the shape people paste into mails and pages."""
