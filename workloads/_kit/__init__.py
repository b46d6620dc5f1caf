"""What travels with every workload: the contract of `run`, results, parsing, the pace gate.

Standard library only: `run` uses it on the host, `parse.py` on the control side.
"""
