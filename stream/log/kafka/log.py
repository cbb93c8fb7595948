"""Makes the clients of a real Kafka."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stream.log.base import Assignor, Partition
from stream.log.kafka import settings as kafka_settings
from stream.log.kafka.admin import KafkaAdmin
from stream.log.kafka.consumer import KafkaConsumer
from stream.log.kafka.login import check_login
from stream.log.kafka.plain import KafkaPlainProducer
from stream.log.kafka.producer import KafkaProducer
from stream.log.kafka.reader import KafkaReader
from stream.log.plain import DELIVERY_S_MAX
from stream.process_context import ProcessContext


@dataclass(frozen=True, slots=True)
class KafkaLog:
    """A `Log`: where the brokers are and how to speak with them."""

    bootstrap_servers: str
    client: Mapping[str, str]
    #: Of what transactional producers write.
    compression: str = "lz4"

    def consumer(
        self,
        group: str,
        instance_id: str | None = None,
        *,
        assignor: Assignor = "range",
        regex_refresh_ms: int = 3_000,
    ) -> KafkaConsumer:
        settings = kafka_settings.consumer_settings(
            self.bootstrap_servers,
            self.client,
            group=group,
            instance_id=instance_id,
            assignor=assignor,
            regex_refresh_ms=regex_refresh_ms,
        )
        return self.member(settings)

    def member(self, settings: kafka_settings.Settings) -> KafkaConsumer:
        """A group's consumer with these settings; logs of another kind make it otherwise."""
        return KafkaConsumer(settings)

    def producer(self, transactional_id: str, *, batch_bytes_max: int = 1_000_000) -> KafkaProducer:
        return KafkaProducer(
            kafka_settings.producer_settings(
                self.bootstrap_servers,
                self.client,
                transactional_id=transactional_id,
                batch_bytes_max=batch_bytes_max,
                compression=self.compression,
            )
        )

    def admin(self) -> KafkaAdmin:
        return KafkaAdmin(kafka_settings.admin_settings(self.bootstrap_servers, self.client))

    def plain_producer(self, delivery_s_max: float = DELIVERY_S_MAX) -> KafkaPlainProducer:
        return KafkaPlainProducer(
            kafka_settings.plain_producer_settings(
                self.bootstrap_servers, self.client, delivery_s_max=delivery_s_max
            )
        )

    def reader(self, begin: Sequence[str] | Mapping[Partition, int], *, careful: bool = False) -> KafkaReader:
        settings = kafka_settings.reader_settings(self.bootstrap_servers, self.client, careful=careful)
        return KafkaReader(settings, self.admin(), begin)


def kafka_log(place: ProcessContext, compression: str = "lz4") -> KafkaLog:
    """The log of this place. LoginRefused where its brokers do not let us in: said before anything waits for them."""
    check_login(place.bootstrap_servers, place.client)
    return KafkaLog(place.bootstrap_servers, place.client, compression)
