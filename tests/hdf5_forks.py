"""Child processes of hdf5_process, forked from one process that has imported everything.

A fork takes milliseconds, while a new process takes seconds. For Linux only.
"""

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager, suppress
from types import SimpleNamespace

from pixelsne.files import hdf5_process

SERVER = """
import json, os, socket, sys
os.environ |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")  # threads could hold locks during a fork
sys.path[:] = json.loads(sys.argv[1])
import anndata.io, h5py, pyarrow, pyarrow.ipc
from pixelsne.files import hdf5_child
pyarrow.set_cpu_count(1)
pyarrow.set_io_thread_count(1)
hdf5_child.SECONDS_TO_OPEN = 5
hdf5_child.end_with_parent()
requests = socket.socket(fileno=0)
while True:
    request, handles, _, _ = socket.recv_fds(requests, 1 << 20, 2)
    if not request:
        break
    child = os.fork()
    if child == 0:
        os.dup2(handles[0], 0)
        os.dup2(handles[1], 1)
        try:
            hdf5_child.main(request.decode())
        finally:
            os._exit(1)
    for handle in handles:
        os.close(handle)
    handle = os.pidfd_open(child)
    socket.send_fds(requests, [b"child"], [handle])
    os.close(handle)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    requests.send(status.to_bytes(8, "little", signed=True))
"""


class Forked:
    """The part of subprocess.Popen that hdf5_process uses."""

    def __init__(self, server, command):
        self._server, self._code = server, None
        child_in, self_in = os.pipe()
        self_out, child_out = os.pipe()
        self.stdin, self.stdout = os.fdopen(self_in, "wb"), os.fdopen(self_out, "rb")
        socket.send_fds(server, [command[-1].encode()], [child_in, child_out])
        os.close(child_in)
        os.close(child_out)
        message, handles, _, _ = socket.recv_fds(server, 16, 1)
        if message != b"child":
            raise RuntimeError("the server of forked readers has ended")
        self._child = handles[0]  # a file descriptor, because another process might have the same pid by now

    def wait(self, _timeout=None):
        if self._code is None:
            self._code = int.from_bytes(self._server.recv(8), "little", signed=True)
            os.close(self._child)
        return self._code

    def kill(self):
        if self._code is None:
            with suppress(ProcessLookupError):  # it has ended, and its exit code will arrive
                signal.pidfd_send_signal(self._child, signal.SIGKILL)
            self.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()


@contextmanager
def forked_readers():
    """Make read_points read h5ad files in forked children while the context is active."""
    own_socket, server_socket = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    command = [sys.executable, "-c", SERVER, json.dumps(sys.path)]
    real = hdf5_process.subprocess
    with subprocess.Popen(command, stdin=server_socket, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        server_socket.close()
        replaced = {**vars(subprocess), "Popen": lambda command, **_: Forked(own_socket, command)}
        hdf5_process.subprocess = SimpleNamespace(**replaced)
        try:
            yield
        finally:
            hdf5_process.subprocess = real
            own_socket.close()
            server.kill()
