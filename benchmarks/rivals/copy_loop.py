"""The rival of the dispatcher: a raw confluent-kafka loop that reads, copies and commits in transactions.

It decodes nothing, routes nothing and knows no bad record: batches of 2,000 records, each copied with key and value to
one topic, the offsets in the same transaction. Run as its own process: `python -m benchmarks.rivals.copy_loop
BOOTSTRAP SOURCE TARGET GROUP COUNT`; it prints records/s from the first batch to the last commit.
"""

from __future__ import annotations

import sys
import time

from confluent_kafka import Consumer, Producer, TopicPartition

BATCH_RECORDS = 2_000
#: No record for so long means that the source ended early: give up.
PATIENCE_S = 60.0


def copy(bootstrap: str, source: str, target: str, group: str, count: int) -> float:
    """Copy `count` records; records/s."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": group,
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed",
        }
    )
    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "transactional.id": group,
            "compression.type": "lz4",
            "linger.ms": 5,
            "retry.backoff.ms": 5,
        }
    )
    producer.init_transactions(30)
    consumer.subscribe([source])
    done, begin = 0, 0.0
    heard = time.monotonic()
    while done < count:
        messages = consumer.consume(BATCH_RECORDS, 0.1)
        if not messages:
            if time.monotonic() - heard > PATIENCE_S:
                raise TimeoutError(f"{done} of {count} records, then nothing for {PATIENCE_S} s")
            continue
        heard = time.monotonic()
        begin = begin or heard
        producer.begin_transaction()
        ends: dict[int, int] = {}
        for message in messages:
            producer.produce(target, message.value(), message.key())
            ends[message.partition()] = message.offset() + 1
        offsets = [TopicPartition(source, partition, offset) for partition, offset in ends.items()]
        producer.send_offsets_to_transaction(offsets, consumer.consumer_group_metadata())
        producer.commit_transaction()
        done += len(messages)
    rate = done / (time.monotonic() - begin)
    consumer.close()
    return rate


if __name__ == "__main__":
    bootstrap_servers, source_topic, target_topic, group_id, records = sys.argv[1:]
    print(copy(bootstrap_servers, source_topic, target_topic, group_id, int(records)))
