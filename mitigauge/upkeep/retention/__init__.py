"""What is deleted after a time: whatever is no value, no verdict and no proof of one."""
