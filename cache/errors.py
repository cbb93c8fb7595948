"""Errors of `cache`.

CacheError
+-- BadShardMap   a shard map that cannot be read, or does not cover the key space once
"""

from __future__ import annotations


class CacheError(Exception):
    """Root of the package's errors."""


class BadShardMap(CacheError):
    """Not a shard map; the message says why."""
