"""Mails and mailboxes, read where they can harm nobody."""
