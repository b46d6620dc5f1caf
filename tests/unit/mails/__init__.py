"""Tests of the reader of mails."""
