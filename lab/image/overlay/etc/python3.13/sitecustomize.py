"""Keeps what Python compiles out of zip files.

Every Ansible task brings its modules as a zip, whose bytecode Python never stores. To compile
them anew takes an emulated processor a third of each task.
"""

import sys

DIRECTORY = "/var/cache/python-zip"


def keep():
    """Have zipimport look up what it compiled before, by the source and Python's version."""
    import _imp
    import marshal
    import os
    import zipimport

    compiled = zipimport._compile_source

    def looked_up(pathname, source):
        mark = _imp.source_hash(0, source).hex()
        path = f"{DIRECTORY}/{mark}-{len(source)}.{sys.implementation.cache_tag}"
        try:
            with open(path, "rb") as file:
                return marshal.loads(file.read())
        except (OSError, ValueError, EOFError, TypeError):
            code = compiled(pathname, source)
        try:
            os.makedirs(DIRECTORY, mode=0o700, exist_ok=True)
            part = f"{path}.{os.getpid()}"
            with open(part, "wb") as file:
                file.write(marshal.dumps(code))
            os.replace(part, path)
        except OSError:
            pass
        return code

    zipimport._compile_source = looked_up


keep()
