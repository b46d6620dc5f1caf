"""Who may do what, and who did it: tokens, roles, browser sessions; the audit.

It touches its own tables and nothing else of the service. What changes something calls
`audit.service.record` in the same transaction; entries are never altered. Begin with `roles.py`
and `audit/service.py`.
"""
