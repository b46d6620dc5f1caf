"""What the service does by itself: whose fault a failure is, and when it is tried again."""
