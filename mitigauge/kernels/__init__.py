"""Candidate kernels: what they are built from, what came of it, and what of two of them differs.

It reads patches and packages, which are hostile, confined and under limits; `mails` reads the
mails and archives that patches come in. Building is `pipelines/kernel_build.py`. Begin with
`tables.py` and `functions.py`, what a build notes of a kernel's code.
"""
