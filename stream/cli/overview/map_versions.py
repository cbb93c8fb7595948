"""The version of each endpoint's shard map."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from typing import Final

from cache.shard_map import decode_map, uniform
from stream.config.settings import Settings
from stream.log.base import Log

READ_S: Final = 10.0


def map_versions(log: Log, settings: Settings, topics: Mapping[str, int]) -> Mapping[str, int]:
    """The newest that was published, else that of the uniform map everybody starts from. BadShardMap, LogTimeout."""
    versions = dict.fromkeys(settings.endpoints, uniform(1).version)
    shards = settings.own_topic("shards")
    if shards in topics:
        with closing(log.reader([shards])) as reader:
            for record in reader.to_end(READ_S):
                endpoint, value = (record.key() or b"").decode("utf-8", "replace"), record.value()
                if endpoint in versions and value is not None:
                    versions[endpoint] = max(versions[endpoint], decode_map(value).version)
    return versions
