"""A scheduler address where something other than Dask answers: a message within seconds, no traceback, no hang."""

import contextlib
import logging
import socket
import threading
import time

import pytest

import polhode as ph
from study_cases import small

ANSWERS = {
    "a web server": b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n",
    "a mail server": b"220 mail.example ESMTP\r\n",
    "a large number": b"\xff" * 64,
    "zeros": b"\x00" * 4096,
    "silence": b"",
}


@contextlib.contextmanager
def server(answer, close):
    """A port that answers so to whoever comes; close: whether it then hangs up."""
    held = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.1)
        over = threading.Event()

        def serve():
            while not over.is_set():
                with contextlib.suppress(TimeoutError, OSError):
                    line = listener.accept()[0]
                    held.append(line)
                    line.sendall(answer)
                    if close:
                        line.close()

        thread = threading.Thread(target=serve)
        thread.start()
        yield listener.getsockname()[1]
        over.set()
        thread.join()
    for line in held:
        line.close()


@pytest.mark.parametrize("kind", ANSWERS)
@pytest.mark.parametrize("form", ["tcp://127.0.0.1:{}", "127.0.0.1:{}"])
def test_what_is_no_scheduler_is_told_within_seconds(tmp_path, kind, form, caplog, monkeypatch):
    monkeypatch.setattr("polhode.ensemble.cluster.PATIENCE", 1.0)
    begin = time.monotonic()
    study = small()
    told = pytest.raises(ph.InputError, match="cannot be reached")
    with caplog.at_level(logging.WARNING), server(ANSWERS[kind], kind != "silence") as port, told:
        ph.sweep(study, out=tmp_path / "s", scheduler=form.format(port))
    assert time.monotonic() - begin < 15
    assert "Traceback" not in caplog.text
    assert not (tmp_path / "s").exists()


@pytest.mark.parametrize(
    "address", ["tcp://127.0.0.1:1", "tcp://", "127.0.0.1", "tcp://[::1]:1", "", "tcp://x:99999999", 5]
)
def test_addresses_of_nobody_are_told(tmp_path, address, monkeypatch):
    monkeypatch.setattr("polhode.ensemble.cluster.PATIENCE", 1.0)
    with pytest.raises(ph.InputError, match="scheduler"):
        ph.sweep(small(), out=tmp_path / "s", scheduler=address)
