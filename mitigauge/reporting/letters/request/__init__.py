"""Replies to mails that ask for something."""
