"""The contract with hosts: what a case, a job, a result and a run record are, and their limits.

Hosts have it as `_kit.wire`, Ansible's modules as `ansible.module_utils.mitigauge_wire`, all else
as `mitigauge.core.wire`: one folder. Standard library only, Python 3.9 or newer.
"""
