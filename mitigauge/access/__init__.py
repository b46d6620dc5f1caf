"""Who may do what: tokens, roles, browser sessions."""
