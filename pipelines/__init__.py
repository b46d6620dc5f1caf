"""What makes it happen: advancing runs step by step, on leased hosts."""
