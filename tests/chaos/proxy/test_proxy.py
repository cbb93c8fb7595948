"""The proxy before a real broker: each fault of an EndTxn does to a plain transactional client what it should."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.chaos.play.cluster import Cluster
from tests.chaos.proxy.faults import Action, EndTxnFault
from tests.chaos.proxy.server import REFUSALS

pytestmark = [pytest.mark.broker, pytest.mark.chaos]

PATIENCE_S = 60.0


class Client:
    """A topic of its own and a transactional producer that reaches the broker through the proxy."""

    def __init__(self, cluster: Cluster, name: str) -> None:
        self.cluster, self.name = cluster, name
        admin = AdminClient({"bootstrap.servers": cluster.direct})
        admin.create_topics([NewTopic(name, 1)])[name].result(PATIENCE_S)
        self.producer = self.fresh()

    def fresh(self) -> Producer:
        producer = Producer(
            {
                "bootstrap.servers": self.cluster.proxied,
                "transactional.id": self.name,
                "transaction.timeout.ms": 10_000,
                "retry.backoff.ms": 5,
                "log_level": 0,
            }
        )
        producer.init_transactions(PATIENCE_S)
        return producer

    def begin(self, text: str) -> None:
        self.producer.begin_transaction()
        self.producer.produce(self.name, text.encode())
        assert self.producer.flush(PATIENCE_S) == 0

    def commit(self, text: str) -> None:
        self.begin(text)
        self.producer.commit_transaction(PATIENCE_S)

    def visible(self, isolation: str = "read_committed") -> list[str]:
        reader = Consumer(
            {
                "bootstrap.servers": self.cluster.direct,
                "group.id": "nobody",
                "isolation.level": isolation,
                "enable.partition.eof": True,
            }
        )
        reader.assign([TopicPartition(self.name, 0, 0)])
        found: list[str] = []
        while True:
            message = reader.poll(PATIENCE_S)
            assert message is not None
            if message.error():
                reader.close()
                return found
            found.append((message.value() or b"").decode())

    def comes_to_show(self, *texts: str) -> bool:
        """A commit answers before its markers are written: what it made visible may come a moment later."""
        deadline = time.monotonic() + PATIENCE_S
        while (found := self.visible()) != list(texts):
            if time.monotonic() > deadline:
                raise AssertionError(f"{found} instead of {list(texts)}")
            time.sleep(0.05)
        return True


@pytest.fixture
def client(cluster: Cluster, unique: Callable[[str], str]) -> Client:
    return Client(cluster, unique("proxied"))


def bitten(cluster: Cluster, action: Action) -> int:
    assert cluster.proxy.failures == []
    return cluster.proxy.plan.bitten[action]


def test_clients_pass_the_proxy_and_are_counted(client: Client) -> None:
    client.commit("one")
    assert client.comes_to_show("one")
    assert any(name == client.name for _, name in client.cluster.proxy.requests)


@pytest.mark.parametrize("action", [Action.SEVER_RESPONSE, Action.DELAY_RESPONSE])
def test_a_lost_or_late_answer_does_not_undo_the_commit(client: Client, action: Action) -> None:
    before = bitten(client.cluster, action)
    client.cluster.proxy.plan.inject(EndTxnFault(client.name, action, delay_s=1.0))
    client.commit("one")
    client.commit("two")
    assert client.comes_to_show("one", "two")
    assert bitten(client.cluster, action) == before + 1


def test_a_swallowed_answer_leaves_the_client_without_knowledge_and_the_broker_with_the_commit(
    client: Client,
) -> None:
    client.cluster.proxy.plan.inject(EndTxnFault(client.name, Action.DROP_RESPONSE))
    client.begin("one")
    with pytest.raises(KafkaException):
        client.producer.commit_transaction(3)
    assert client.comes_to_show("one")


@pytest.mark.parametrize(
    ("action", "visible"), [(Action.KILL_BEFORE, ["next"]), (Action.KILL_AFTER, ["one", "next"])]
)
def test_a_kill_point_lies_on_the_right_side_of_the_commit(
    client: Client, action: Action, visible: list[str]
) -> None:
    killed: list[str] = []
    proxy = client.cluster.proxy

    def kill(transactional_id: str) -> None:
        # Nobody is really killed here: with the proxy shut, the client cannot repeat its commit.
        killed.append(transactional_id)
        proxy.shut()

    client.cluster.owned_by(kill)
    proxy.plan.inject(EndTxnFault(client.name, action))
    client.begin("one")
    try:
        with pytest.raises(KafkaException):
            client.producer.commit_transaction(3)
    finally:
        proxy.reopen()
    client.producer = client.fresh()
    client.commit("next")
    assert killed == [client.name]
    assert client.comes_to_show(*visible)


def send_offsets(client: Client) -> None:
    """As a worker does between its outputs and its commit."""
    member = Consumer({"bootstrap.servers": client.cluster.direct, "group.id": client.name})
    offsets = [TopicPartition(client.name, 0, 1)]
    client.producer.send_offsets_to_transaction(offsets, member.consumer_group_metadata(), PATIENCE_S)
    member.close()


def test_a_stray_end_txn_commits_half_of_the_next_transaction_of_its_epoch(client: Client) -> None:
    """KAFKA-17754: outputs become visible without their offsets; nothing but a new epoch prevents it."""
    proxy = client.cluster.proxy
    proxy.plan.inject(EndTxnFault(client.name, Action.STRAY))
    client.commit("one")
    client.begin("half")
    with suppress(KafkaException):
        send_offsets(client)
    assert proxy.stray_answers[-1] == 0
    assert client.comes_to_show("one", "half")


def test_a_new_epoch_fences_the_stray(client: Client) -> None:
    proxy = client.cluster.proxy
    proxy.plan.inject(EndTxnFault(client.name, Action.STRAY))
    client.commit("one")
    client.producer = client.fresh()
    client.begin("half")
    send_offsets(client)
    assert proxy.stray_answers[-1] in REFUSALS
    assert client.visible() == ["one"]
    client.producer.abort_transaction(PATIENCE_S)
    assert client.visible("read_uncommitted") == ["one", "half"]
