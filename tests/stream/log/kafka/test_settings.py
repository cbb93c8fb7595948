"""What exactly-once cannot do without is set, whatever the operator asks for."""

from __future__ import annotations

from stream.log.kafka import settings as kafka_settings
from stream.log.kafka.settings import Settings


def _consumer(client: dict[str, str], instance_id: str | None = None) -> Settings:
    return kafka_settings.consumer_settings(
        "b:1", client, group="g", instance_id=instance_id, assignor="range", regex_refresh_ms=3_000
    )


def test_a_consumer_never_commits_by_itself_and_reads_committed() -> None:
    wrong = {"enable.auto.commit": "true", "isolation.level": "read_uncommitted", "group.id": "other"}
    settings = _consumer(wrong)
    assert settings["enable.auto.commit"] is False
    assert settings["isolation.level"] == "read_committed"
    assert settings["group.id"] == "g"
    assert settings["enable.partition.eof"] is True


def test_a_static_member_has_its_instance_id_and_a_dynamic_one_has_none() -> None:
    assert _consumer({}, "g.00")["group.instance.id"] == "g.00"
    assert "group.instance.id" not in _consumer({})


def test_the_operator_sets_security_and_tuning() -> None:
    settings = _consumer({"security.protocol": "SASL_SSL", "session.timeout.ms": "10000"})
    assert settings["security.protocol"] == "SASL_SSL"
    assert settings["session.timeout.ms"] == "10000"


def test_a_transactional_producer_keeps_its_id_and_waits_for_all() -> None:
    settings = kafka_settings.producer_settings(
        "b:1", {"transactional.id": "other", "acks": "0"}, transactional_id="g.00", batch_bytes_max=5_000
    )
    assert settings["transactional.id"] == "g.00"
    assert settings["acks"] == "all"
    assert settings["transaction.timeout.ms"] == 15_000
    assert settings["batch.size"] == 5_000
    assert settings["partitioner"] == "murmur2_random"


def test_a_reader_joins_no_group_and_keeps_no_offsets() -> None:
    settings = kafka_settings.reader_settings("b:1", {})
    assert settings["isolation.level"] == "read_committed"
    assert settings["enable.auto.commit"] is False
    assert "group.instance.id" not in settings
