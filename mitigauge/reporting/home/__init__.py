"""What a person sees first: what runs, what is new, and what waits for somebody."""
