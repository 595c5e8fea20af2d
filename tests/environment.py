"""The environment of a test run, set before Django reads it (loaded with `-p tests.environment`).

Each test process gets a home folder of its own. `PLUMBLINE_PROFILE=cluster` runs the same suite
on PostgreSQL, Redis and an S3 server instead of SQLite, the folder queue and local files.
"""

from __future__ import annotations

import atexit
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

HOME = tempfile.mkdtemp(prefix="plumbline-test-")
WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")
CLUSTER = os.environ.get("PLUMBLINE_PROFILE", "embedded") == "cluster"
POSTGRES_URL = os.environ.get("PLUMBLINE_TEST_POSTGRES", "postgres://postgres@127.0.0.1:5432/postgres")
REDIS_URL = os.environ.get("PLUMBLINE_TEST_REDIS", "redis://127.0.0.1:6379")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start_s3() -> str:
    """An S3 server of this process; returns its address once it answers."""
    port = free_port()
    server = subprocess.Popen([sys.executable, "-m", "moto.server", "-p", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    atexit.register(server.kill)
    address = f"http://127.0.0.1:{port}"
    for _ in range(300):
        try:
            with urllib.request.urlopen(f"{address}/moto-api/", timeout=1):
                return address
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("the S3 test server did not start")


# Each of the programs that tests start, some hundreds, would compile the service's sources anew, and pytest all tests'.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
os.environ.update(
    {
        "PLUMBLINE_HOME": HOME,
        "PLUMBLINE_SECRET_KEY": "only-for-tests",
        "PLUMBLINE_HOSTS": "*",
        "PLUMBLINE_LEASE_SECONDS": "3",
        "PLUMBLINE_HEARTBEAT_SECONDS": "0.5",
        "PLUMBLINE_SWEEP_SECONDS": "0.5",
        "PLUMBLINE_LOSS_SECONDS": "0.5",
        # Playwright's synchronous API runs an event loop in the test's own thread.
        "DJANGO_ALLOW_ASYNC_UNSAFE": "true",
    }
)
atexit.register(shutil.rmtree, HOME, ignore_errors=True)
# Threads of several test processes wait for one another in loops, which takes three times the processor for the same work.
for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(threads, "1")
if CLUSTER:
    number = int(WORKER.removeprefix("gw") or 0) if WORKER else 0
    os.environ.update(
        {
            "PLUMBLINE_DATABASE_URL": POSTGRES_URL,
            "PLUMBLINE_BROKER_URL": f"{REDIS_URL}/{8 + number % 4}",
            "PLUMBLINE_CACHE_URL": f"{REDIS_URL}/{12 + number % 4}",  # emptied before each test
            "PLUMBLINE_S3_ENDPOINT": start_s3(),
            "PLUMBLINE_S3_BUCKET": "plumbline-test",
            "PLUMBLINE_S3_ACCESS_KEY": "test",
            "PLUMBLINE_S3_SECRET_KEY": "test",
        }
    )
