"""Which mitigation a kernel chooses, by processor and options."""
