"""A server on the loopback that publishes a file."""

import random
import threading
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CONTENT = random.Random(0).randbytes(1_000_003)


class Mirror:
    """A server of one file. Its fields say how it behaves; ``requests`` are the headers it was asked with."""

    def __init__(self) -> None:
        self.content = CONTENT
        self.headers: dict[str, str] = {}
        self.statuses: list[int] = []  # of the next answers; then all is well
        self.cuts: list[int] = []  # after how many bytes the next contents are cut; then none
        self.requests: list[Message] = []
        self.paths: list[str] = []  # that were asked for; the file is at all of them
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        self.url = f"{self.address}/file.bin"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        mirror = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                if self.path.startswith("/api/"):  # the hub's library asks for more than files
                    self.send_error(404)
                    return
                mirror.requests.append(self.headers)
                mirror.paths.append(self.path)
                mirror.answer(self)

            do_HEAD = do_GET  # noqa: N815 - as in the base class

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as in the base class
                pass

        return Handler

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        status = self.statuses.pop(0) if self.statuses else 200
        body = self.content if status == 200 else b"an error page"
        handler.send_response(status)
        for name, value in (self.headers | {"Content-Length": str(len(body))}).items():
            handler.send_header(name, value)
        handler.end_headers()
        if handler.command == "HEAD":
            return
        if self.cuts and status == 200:
            body, handler.close_connection = body[: self.cuts.pop(0)], True
        handler.wfile.write(body)
