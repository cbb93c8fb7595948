"""The schema registry: an unknown id is the record's fault, everything else is the registry's and waits."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from schemas.avro import AvroSchema
from schemas.avro_line import REQUEST_LINE
from schemas.errors import BadRecord, RegistryUnavailable, SchemaUnknown
from schemas.failure import ErrorClass
from schemas.registry import Registry, RegistryRules
from schemas.registry_client import ClientRules, RegistryClient
from tests.schemas.clock import Clock
from tests.schemas.registry_server import UNKNOWN_ID, RegistryServer, Reply, registry_server, schema_reply

PATH = "/schemas/ids/7"
NAMED = '{"type": "record", "name": "In", "fields": [{"name": "a", "type": "int"}]}'
USER = '{"type": "record", "name": "Out", "fields": [{"name": "in", "type": "In"}]}'


@pytest.fixture
def server() -> Iterator[RegistryServer]:
    with registry_server() as started:
        yield started


@pytest.fixture
def client(server: RegistryServer) -> Iterator[RegistryClient]:
    made = RegistryClient(
        server.url + "/", time.monotonic, ClientRules(timeout_s=30, answer_bytes_max=50_000)
    )
    yield made
    made.close()


def test_a_schema_is_fetched_by_its_id(server: RegistryServer, client: RegistryClient) -> None:
    server.replies[PATH] = schema_reply(REQUEST_LINE)
    assert AvroSchema(client.fetch(7).text).format == AvroSchema(REQUEST_LINE).format


def test_references_are_fetched_before_what_uses_them(server: RegistryServer, client: RegistryClient) -> None:
    reference = {"name": "In", "subject": "in/put", "version": 2}
    server.replies[PATH] = schema_reply(USER, schemaType="AVRO", references=[reference])
    server.replies["/subjects/in%2Fput/versions/2"] = schema_reply(NAMED)
    text, references = client.fetch(7)
    schema = AvroSchema(text, references)
    assert schema.read(schema.write({"in": {"a": 5}})) == {"in": {"a": 5}}


def test_references_in_a_circle_end(server: RegistryServer, client: RegistryClient) -> None:
    reference = {"name": "In", "subject": "in", "version": 1}
    server.replies[PATH] = schema_reply(USER, references=[reference])
    server.replies["/subjects/in/versions/1"] = schema_reply(NAMED, references=[reference])
    with pytest.raises(SchemaUnknown, match="refers to more than"):
        client.fetch(7)
    assert len(server.asked) < 200


@pytest.mark.parametrize("reply", [UNKNOWN_ID, Reply(404, (b"",)), Reply(404, (b"{}",))])
def test_an_unknown_id_is_told_apart(server: RegistryServer, client: RegistryClient, reply: Reply) -> None:
    server.replies[PATH] = reply
    with pytest.raises(SchemaUnknown, match="does not know it"):
        client.fetch(7)


def test_a_protobuf_schema_is_no_use(server: RegistryServer, client: RegistryClient) -> None:
    server.replies[PATH] = schema_reply("message A {}", schemaType="PROTOBUF")
    with pytest.raises(SchemaUnknown, match="is a PROTOBUF schema; only AVRO"):
        client.fetch(7)


UNAVAILABLE = {
    "an error of the server": Reply(500, (b'{"error_code": 50001}',)),
    "a busy server": Reply(503, (b"",)),
    "a missing right": Reply(401, (b'{"error_code": 401}',)),
    "a wrong path": Reply(404, (b'{"error_code": 404, "message": "HTTP 404 Not Found"}',)),
    "a web page that is not there": Reply(404, (b"<html>not found</html>",)),
    "a web page": Reply(200, (b"<html>welcome</html>",)),
    "an answer without a schema": Reply(200, (b'{"id": 7}',)),
    "an answer with wrong references": Reply(200, (b'{"schema": "1", "references": [{"name": 1}]}',)),
    "a list": Reply(200, (b"[]",)),
    "a deep answer": Reply(200, (b"[" * 20_000,)),
    "a redirect": Reply(302, (b"",)),
    "an endless answer": Reply(200, (b" " * 60_000,)),
}


@pytest.mark.parametrize("name", UNAVAILABLE)
def test_everything_else_is_the_registrys_fault(
    server: RegistryServer, client: RegistryClient, name: str
) -> None:
    server.replies[PATH] = UNAVAILABLE[name]
    with pytest.raises(RegistryUnavailable, match=r"schema registry http://127\.0\.0\.1:\d+/schemas/ids/7: "):
        client.fetch(7)


GOOD = schema_reply(REQUEST_LINE).pieces[0]
SLOW = {
    "a slow answer": Reply(200, (GOOD,), wait_s=0.6),
    "an answer in drops": Reply(200, (*(b" ",) * 10, GOOD), wait_s=0.1),
}


@pytest.mark.parametrize("name", SLOW)
def test_a_good_answer_that_comes_too_late_is_the_registrys_fault(server: RegistryServer, name: str) -> None:
    client = RegistryClient(server.url, time.monotonic, ClientRules(timeout_s=0.3))
    server.replies[PATH] = SLOW[name]
    with pytest.raises(RegistryUnavailable, match=r"schema registry http://127\.0\.0\.1:\d+/schemas/ids/7: "):
        client.fetch(7)
    client.close()


def test_a_registry_that_is_down_is_unavailable_and_its_password_is_not_told() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
        client = RegistryClient(f"http://user:secret@127.0.0.1:{port}", time.monotonic)
        with pytest.raises(RegistryUnavailable, match="ConnectError") as caught:
            client.fetch(7)
        client.close()
    assert "secret" not in str(caught.value)


def test_a_url_that_is_none_is_unavailable() -> None:
    client = RegistryClient("registry", time.monotonic)
    with pytest.raises(RegistryUnavailable, match="UnsupportedProtocol"):
        client.fetch(7)
    client.close()


# ---- the memory above the client ------------------------------------------------------------------------------


def test_a_schema_is_asked_for_once(server: RegistryServer, client: RegistryClient) -> None:
    server.replies[PATH] = schema_reply(NAMED)
    registry = Registry(client, Clock())
    assert registry.schema(7) is registry.schema(7)
    assert server.asked == [PATH]


def test_an_unknown_id_is_a_bad_record_and_asked_for_again_after_a_while(
    server: RegistryServer, client: RegistryClient
) -> None:
    clock = Clock()
    registry = Registry(client, clock, RegistryRules(unknown_s=60))
    for _ in range(3):
        with pytest.raises(BadRecord, match="schema id 7: the registry does not know it") as caught:
            registry.schema(7)
        assert caught.value.failure.error_class is ErrorClass.UNREADABLE
    assert server.asked == [PATH]
    server.replies[PATH] = schema_reply(NAMED)
    clock.now_s = 61
    registry.schema(7)


def test_text_that_is_no_schema_is_a_bad_record(server: RegistryServer, client: RegistryClient) -> None:
    server.replies[PATH] = schema_reply('{"type": "flub"}')
    with pytest.raises(BadRecord, match="schema id 7: not an Avro schema"):
        Registry(client, Clock()).schema(7)


def test_a_silent_registry_is_left_alone_for_a_moment_then_asked_again(
    server: RegistryServer, client: RegistryClient
) -> None:
    clock = Clock()
    registry = Registry(client, clock, RegistryRules(retry_after_s=1))
    server.replies[PATH] = Reply(500, (b"",))
    for schema_id in (7, 7, 8):
        with pytest.raises(RegistryUnavailable, match="answered 500"):
            registry.schema(schema_id)
    assert server.asked == [PATH]
    server.replies[PATH] = schema_reply(NAMED)
    clock.now_s = 1.5
    registry.schema(7)


def test_known_schemas_work_while_the_registry_is_silent(
    server: RegistryServer, client: RegistryClient
) -> None:
    registry = Registry(client, Clock())
    server.replies[PATH] = schema_reply(NAMED)
    registry.schema(7)
    server.replies["/schemas/ids/8"] = Reply(500, (b"",))
    with pytest.raises(RegistryUnavailable):
        registry.schema(8)
    registry.schema(7)


def test_the_memory_is_bounded(server: RegistryServer, client: RegistryClient) -> None:
    registry = Registry(client, Clock(), RegistryRules(schemas_max=2))
    for schema_id in (1, 2, 3):
        server.replies[f"/schemas/ids/{schema_id}"] = schema_reply(NAMED)
        registry.schema(schema_id)
    registry.schema(3)
    registry.schema(1)
    assert server.asked.count("/schemas/ids/1") == 2
    assert server.asked.count("/schemas/ids/3") == 1


def test_a_header_that_trickles_in_is_given_up_in_time() -> None:
    """httpx bounds each read, and each brings a byte."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        trickling = threading.Thread(target=_trickle, args=(listening,), daemon=True)
        trickling.start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        client = RegistryClient(url, time.monotonic, ClientRules(timeout_s=2))
        with pytest.raises(RegistryUnavailable):
            client.fetch(1)
        trickling.join(60)
        assert not trickling.is_alive(), "the connection is closed"


def _trickle(listening: socket.socket) -> None:
    connection, _ = listening.accept()
    with connection, suppress(OSError):
        connection.recv(65_536)
        connection.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
        for _ in range(3_000):  # far longer than it is waited for
            connection.sendall(b"a")
            time.sleep(0.1)


def test_a_closed_client_asks_no_more(server: RegistryServer, client: RegistryClient) -> None:
    client.close()
    with pytest.raises(RegistryUnavailable, match="not asked any more"):
        client.fetch(7)
    assert not server.asked
