"""`python read_with_aiokafka.py SERVERS COUNT TOPIC…`: committed records as JSON, `[[topic, text], …]`."""

from __future__ import annotations

import asyncio
import json
import sys

from aiokafka import AIOKafkaConsumer


async def read(servers: str, count: int, topics: list[str]) -> list[list[str]]:
    consumer = AIOKafkaConsumer(
        *topics,
        bootstrap_servers=servers,
        auto_offset_reset="earliest",
        isolation_level="read_committed",
    )
    await consumer.start()
    try:
        records = [await consumer.getone() for _ in range(count)]
    finally:
        await consumer.stop()
    return [[record.topic, record.value.decode()] for record in records]


sys.stdout.write(json.dumps(asyncio.run(read(sys.argv[1], int(sys.argv[2]), sys.argv[3:]))))
