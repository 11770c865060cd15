"""The page's HTTP server under clients that send and ask for too much: it answers them, goes on serving,
and its memory grows by less than 16 MB at the worst moment.

Usage: http_memory_test.py <engram> <build folder> <source folder>
"""
import pathlib
import re
import resource
import select
import socket
import subprocess
import sys
import threading
import time

MARK = 16 * 1024 * 1024
MEGABYTE = 1 << 20
GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n"


class Server:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        words = self.process.stdout.readline().split()
        self.port = int(words[0])
        self.sanitized = "sanitized" in words

    def connect(self):
        client = socket.create_connection(("127.0.0.1", self.port), timeout=10)
        client.settimeout(10)
        return client

    def memory(self, name):
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(rf"{name}:\s+(\d+) kB", text).group(1)) * 1024

    def ask(self, request):
        """The status of the answer to a good request; tried again while all places are taken."""
        for _ in range(200):
            with self.connect() as client:
                client.sendall(request)
                status = status_of(client)
            if status != 503:
                return status
            time.sleep(0.05)
        return 503


def status_of(client):
    """Of the first answer; 0 where the server just closed."""
    try:
        match = re.match(rb"HTTP/1.1 (\d+) ", client.recv(4096))
    except ConnectionError:
        return 0
    return int(match.group(1)) if match else 0


def flood(server, head, piece, total):
    """Sends `piece` up to `total` bytes, until the server has had enough; the status of its answer."""
    with server.connect() as client:
        try:
            client.sendall(head)
            sent = 0
            while sent < total:
                readable, _, _ = select.select([client], [], [], 0)
                if readable:  # it has answered; a stubborn client goes on for a while
                    status = status_of(client)
                    for _ in range(100):
                        client.sendall(piece)
                    return status
                client.sendall(piece)
                sent += len(piece)
            return status_of(client)
        except (ConnectionError, TimeoutError):
            return 0


def at_once(count, action):
    """`action` in so many threads; their results."""
    results = []
    threads = [threading.Thread(target=lambda: results.append(action())) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def post(size):
    return b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % size


def large_bodies(server):
    block = bytes(64 * 1024)
    chunk = b"10000\r\n" + block + b"\r\n"
    chunked = GET + b"Transfer-Encoding: chunked\r\n\r\n"
    assert flood(server, post(200 * MEGABYTE), block, 200 * MEGABYTE) in (0, 413)
    assert flood(server, chunked, chunk, 200 * MEGABYTE) in (0, 413)
    for status in at_once(16, lambda: flood(server, chunked, chunk, 200 * MEGABYTE)):
        assert status in (0, 413, 503), status
    # Bodies that are allowed one by one, but not all of them at once.
    body = bytes(8 * MEGABYTE)
    for _ in range(3):
        statuses = at_once(16, lambda: flood(server, post(len(body)), body, len(body)))
        assert set(statuses) <= {0, 200, 503}, statuses
    assert server.ask(post(len(body)) + body) == 200


def endless_headers(server):
    block = b"x" * 65536
    fields = b"".join(b"A%d: b\r\n" % i for i in range(5000))
    for head, piece in ((b"GET /", block), (GET + b"X: ", block), (GET, fields), (b"", block),
                        (GET + b"Transfer-Encoding: chunked\r\n\r\n1;", block),
                        (GET + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", fields)):
        statuses = at_once(4, lambda: flood(server, head, piece, 200 * MEGABYTE))
        assert set(statuses) <= {0, 400, 431}, (head, statuses)


def slow_connections(server):
    clients = []
    answered = select.poll()  # select knows no more than 1 024 descriptors
    for i in range(1000):
        client = server.connect()
        client.sendall((b"G", GET, post(MEGABYTE) + bytes(1000), GET[:9])[i % 4])
        answered.register(client, select.POLLIN)
        clients.append(client)
    # All but 32 are told 503, or closed at once.
    deadline = time.monotonic() + 5
    while len(answered.poll(100)) < 968 and time.monotonic() < deadline:
        time.sleep(0.02)
    assert len(answered.poll(0)) >= 968, len(answered.poll(0))
    for client in clients:
        client.close()
    assert server.ask(GET + b"\r\n") == 200


def slow_readers(server):
    clients = []
    for i in range(32):
        client = server.connect()
        target = b"/stream" if i % 2 else b"/large"
        client.sendall(b"GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n" % target)
        clients.append(client)
    time.sleep(0.5)
    for client in clients:
        client.close()
    assert server.ask(GET + b"\r\n") == 200


def main():
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    server = Server(pathlib.Path(sys.argv[2]) / "tests" / "http_echo")
    try:
        assert server.ask(GET + b"\r\n") == 200
        before = server.memory("VmRSS")
        for attack in (large_bodies, endless_headers, slow_connections, slow_readers):
            start = time.monotonic()
            attack(server)
            grown = server.memory("VmHWM") - before
            print(f"{attack.__name__}: at most {grown / MEGABYTE:.1f} MB more than {before / MEGABYTE:.1f} MB, "
                  f"{time.monotonic() - start:.1f} s", flush=True)
            if not server.sanitized:
                assert grown < MARK, f"memory grew by {grown} bytes"
        assert server.process.poll() is None
        server.process.stdin.close()
        assert server.process.wait(timeout=10) == 0
    finally:
        server.process.kill()
        server.process.wait()
    print("http memory: ok")


main()
