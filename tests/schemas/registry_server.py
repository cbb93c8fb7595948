"""A tiny schema registry on loopback whose answers the test decides."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple


class Reply(NamedTuple):
    """What the server says; `wait_s` before each of `pieces`."""

    status: int
    pieces: tuple[bytes, ...]
    wait_s: float = 0


def schema_reply(text: str, **more: object) -> Reply:
    return Reply(200, (json.dumps({"schema": text, **more}).encode(),))


UNKNOWN_ID = Reply(404, (b'{"error_code": 40403, "message": "Schema not found"}',))


class RegistryServer:
    """`replies`: path -> reply; every request's path is kept in `asked`."""

    def __init__(self, url: str, replies: dict[str, Reply]) -> None:
        self.url = url
        self.replies = replies
        self.asked: list[str] = []


@contextmanager
def registry_server() -> Iterator[RegistryServer]:
    """Serves until the block ends."""
    replies: dict[str, Reply] = {}
    state = RegistryServer("", replies)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state.asked.append(self.path)
            _answer(self, replies.get(self.path, UNKNOWN_ID))

        def log_message(self, *args: object) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        thread.join(timeout=10)
        server.server_close()


def _answer(handler: BaseHTTPRequestHandler, reply: Reply) -> None:
    write: Callable[[bytes], object] = handler.wfile.write
    try:
        handler.send_response(reply.status)
        handler.send_header("Content-Length", str(sum(map(len, reply.pieces))))
        for piece in (b"", *reply.pieces):
            if piece:
                time.sleep(reply.wait_s)
                write(piece)
            else:
                handler.end_headers()
    except (BrokenPipeError, ConnectionResetError):
        return  # The client gave up, as the test wants.
