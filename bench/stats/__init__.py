"""How often each rule is right, and what it costs: ours beside four others, simulated."""
