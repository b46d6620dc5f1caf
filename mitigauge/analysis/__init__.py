"""What the values say: verdicts, profiles, exact counts, prices, and claims beside them.

It reads what was measured and writes conclusions once a run is over; pages read those. The
mathematics is `core/stats`. Begin with `verdicts/conclusions.py`, and `profiles/exact/operation.py`
for what an operation runs.
"""
