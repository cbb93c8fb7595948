"""Prints every answer as it comes: `python examples/consumer.py BOOTSTRAP [TOPIC]`; Ctrl-C ends it."""

import json
import sys
from contextlib import suppress

from confluent_kafka import Consumer


def main(servers: str, topic: str = "headrace.results") -> None:
    settings = {"bootstrap.servers": servers, "group.id": "my-app", "auto.offset.reset": "earliest"}
    consumer = Consumer({**settings, "isolation.level": "read_committed"})
    consumer.subscribe([topic])
    while True:
        record = consumer.poll(1.0)
        if record is not None and record.error() is None:
            answer = json.loads(record.value())
            print(answer["custom_id"], answer["error"] or answer["response"]["body"], flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: python examples/consumer.py BOOTSTRAP [TOPIC]")
    with suppress(KeyboardInterrupt):
        main(*sys.argv[1:])
