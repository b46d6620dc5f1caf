"""Questions that live longer than a run: series of patches, bisections, trends, regressions.

Each asks for experiments and jobs, and keeps what became of them. Deciding (`bisect/decision.py`,
`trends/detection.py`) is pure; a worker of `pipelines/` takes the steps. Begin with a noun's
`states.py` and `service.py`.
"""
