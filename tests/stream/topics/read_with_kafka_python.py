"""`python read_with_kafka_python.py SERVERS COUNT TOPIC…`: committed records as JSON, `[[topic, text], …]`."""

from __future__ import annotations

import json
import sys

from kafka import KafkaConsumer

servers, count, *topics = sys.argv[1:]
consumer = KafkaConsumer(
    *topics,
    bootstrap_servers=servers,
    auto_offset_reset="earliest",
    isolation_level="read_committed",
    group_id=None,
)
records = [next(consumer) for _ in range(int(count))]
consumer.close()
sys.stdout.write(json.dumps([[record.topic, record.value.decode()] for record in records]))
