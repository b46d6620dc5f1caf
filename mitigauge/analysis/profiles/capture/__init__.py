"""What perf recorded on a host, as folded stacks."""
