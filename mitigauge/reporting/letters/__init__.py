"""What is sent to people: reports, replies, regressions, the weekly letter."""
