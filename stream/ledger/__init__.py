"""What is done of a partition, and how it is written down: pure, no Kafka, no clock. (docs/exactly-once.md)"""
