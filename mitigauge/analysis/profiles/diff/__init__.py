"""Two groups of stored profiles compared, frame by frame and function by function."""
