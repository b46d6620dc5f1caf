"""Each case, metric and mode of a host class over kernels, revisions and weeks, and its changes."""
