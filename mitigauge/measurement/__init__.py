"""What is planned, booted, proven and measured.

Workloads and modes as their files declare them (`catalog.py`), hosts (`fleet`), the question and
its plan (`experiments`), boots and how they were proven (`runs`), values (`results`), and what was
read once a second beside them (`collectors`). It judges nothing. Begin with `experiments.plan`,
`runs.proof` and `results.schema`.
"""
