"""Bisection: which candidate of an ordered list changed the level, and how sure that is.

``model`` has the words that core and driver share, ``decide`` says what to do next, ``weighing``
weighs what was measured, ``choose`` looks for the points that tell most a boot, ``weights`` makes
prior weights of what each patch touches. All of these are pure.
"""
