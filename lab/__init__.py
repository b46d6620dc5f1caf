"""Emulated hosts: disk image, power, serial console.

The lab knows settings and errors and nothing else of the project; the rest
meets it through the inventory that ``up`` writes.
"""
