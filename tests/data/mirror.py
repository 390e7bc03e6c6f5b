"""A server on the loopback that publishes a file."""

import random
import re
import threading
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CONTENT = random.Random(0).randbytes(1_000_003)


class Mirror:
    """A server of one file. Its fields say how it behaves; ``requests`` are the headers it was asked with."""

    def __init__(self) -> None:
        self.content = CONTENT
        self.headers = {"ETag": '"one"'}
        self.heeds_range = True
        self.heeds_if_range = True
        self.says_total = True
        self.shifts: list[int] = []  # by how much the next ranges begin elsewhere than asked; then they do not
        self.largest_answer: int | None = None
        self.statuses: list[int] = []  # of the next answers; then all is well
        self.cuts: list[int] = []  # after how many bytes the next connections are cut; then none
        self.location: str | None = None
        self.chunked = False
        self.requests: list[Message] = []
        self.paths: list[str] = []  # that were asked for; the file is at all of them
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        self.url = f"{self.address}/file.bin"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    @property
    def ranges(self) -> list[str | None]:
        return [headers["Range"] for headers in self.requests]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        mirror = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                mirror.requests.append(self.headers)
                mirror.paths.append(self.path)
                mirror.answer(self)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as in the base class
                pass

        return Handler

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        if self.location is not None:
            self._send(handler, 302, {"Location": self.location}, b"")
        elif self.statuses and (status := self.statuses.pop(0)) != 200:
            self._send(handler, status, {}, b"an error page")
        elif (start := self._start(handler.headers)) is None:
            self._send(handler, 200, self.headers, self.content)
        elif start >= len(self.content):
            self._send(handler, 416, {"Content-Range": f"bytes */{len(self.content)}"}, b"")
        else:
            start += self.shifts.pop(0) if self.shifts else 0
            piece = self.content[start:][: self.largest_answer]
            span = f"bytes {start}-{start + len(piece) - 1}/{len(self.content) if self.says_total else '*'}"
            self._send(handler, 206, self.headers | {"Content-Range": span}, piece)

    def _start(self, asked: Message) -> int | None:
        if asked["Range"] is None or not self.heeds_range:
            return None
        validators = (self.headers.get("ETag"), self.headers.get("Last-Modified"))
        if self.heeds_if_range and asked["If-Range"] not in validators:
            return None
        match = re.fullmatch(r"bytes=(\d+)-", asked["Range"])
        assert match
        return int(match[1])

    def _send(self, handler: BaseHTTPRequestHandler, status: int, headers: dict[str, str], body: bytes) -> None:
        handler.send_response(status)
        length = {"Transfer-Encoding": "chunked"} if self.chunked else {"Content-Length": str(len(body))}
        for name, value in (headers | length).items():
            handler.send_header(name, value)
        handler.end_headers()
        if self.chunked:
            body = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
        if self.cuts and status in (200, 206):
            handler.wfile.write(body[: self.cuts.pop(0)])
            handler.close_connection = True
        else:
            handler.wfile.write(body)
