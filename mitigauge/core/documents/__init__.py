"""Documents and tables as text, Markdown, HTML, CSV and JSON."""
