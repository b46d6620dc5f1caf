"""Clients at once, in a process of their own: python -m bench.store.clients URL TOKEN CLIENTS S.

Each asks again as soon as it has its answer. Prints JSON: requests, seconds, and latencies'
quantiles in milliseconds.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from urllib.parse import urlsplit

import numpy as np


async def client(url: str, token: str, until: float, taken: list[float]) -> None:
    """Ask over one connection until the time is up; answers are read whole and not looked at."""
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port, limit=1 << 22)
    path = parts.path + (f"?{parts.query}" if parts.query else "")
    request = (
        f"GET {path} HTTP/1.1\r\nHost: {parts.netloc}\r\nAuthorization: Bearer {token}\r\n"
        "Accept-Encoding: gzip\r\n\r\n"
    ).encode()
    while time.perf_counter() < until:
        begun = time.perf_counter()
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        status, *headers = head.decode().split("\r\n")
        if " 200 " not in status:
            raise RuntimeError(f"{url}: {status}")
        length = next(h for h in headers if h.lower().startswith("content-length:"))
        await reader.readexactly(int(length.partition(":")[2]))
        taken.append(time.perf_counter() - begun)
    writer.close()


async def main() -> None:
    """Run all clients and print what they saw."""
    url, token, clients, seconds = sys.argv[1:]
    taken: list[float] = []
    begun = time.perf_counter()
    until = begun + float(seconds)
    await asyncio.gather(*(client(url, token, until, taken) for _ in range(int(clients))))
    elapsed = time.perf_counter() - begun
    p50, p95 = np.percentile(np.array(taken) * 1000, [50, 95])
    print(json.dumps({"requests": len(taken), "seconds": elapsed, "p50_ms": p50, "p95_ms": p95}))


if __name__ == "__main__":
    asyncio.run(main())
