"""What somebody must look at: who does, what became of it, and all that was said."""
