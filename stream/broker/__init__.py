"""The embedded broker: a real Apache Kafka in its own JVM, for one machine."""

from stream.broker.embedded import EmbeddedBroker
from stream.broker.ports import Ports

__all__ = ["EmbeddedBroker", "Ports"]
