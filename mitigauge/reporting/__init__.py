"""What people see and get: pages, tables, letters, subscriptions, search and the home page.

It reads what others stored and writes nothing but what was sent and to whom. A page's figures
were worked out when they were written. Begin with `pages/experiments.py`, `tables/kind.py`, and
`letters/report/service.py`.
"""
