"""What the service does by itself, step by step under a fence: the same rows for each kind of job.

It knows leases, attempts, whose fault a failure is and when it is tried again, and no kind of work.
`pipelines/jobs/` has the work. Begin with `states.py`, `lease.py` and `service.py`.
"""
