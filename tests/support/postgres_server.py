"""A PostgreSQL of one test alone, which may stop, continue and restart it."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from tests.environment import free_port

OWNER = "postgres"  # PostgreSQL does not run as root


class PostgresServer:
    """Its processes, in a new folder or a given one. `url` is that of its empty database."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or Path(tempfile.mkdtemp(prefix="plumbline-postgres-"))
        self.port = free_port()
        self.url = f"postgres://{OWNER}@127.0.0.1:{self.port}/{OWNER}"
        self.owner = OWNER if os.geteuid() == 0 else None
        if self.owner:
            shutil.chown(self.folder, self.owner)
        self._run("initdb", "--auth=trust", f"--username={OWNER}", "--encoding=UTF8", "--no-sync", "--pgdata", str(self.folder / "data"))
        self.start()

    @classmethod
    def missing(cls) -> str:
        """A sentence on what a PostgreSQL of one's own lacks on this machine; empty where it can be made."""
        if not cls._programs():
            return "initdb is not on this machine"
        if os.geteuid() == 0 and OWNER not in {one.pw_name for one in pwd.getpwall()}:
            return f"there is no user {OWNER} to run a server as"
        return ""

    @staticmethod
    def _programs() -> Path | None:
        """The folder of the server's programs, which Debian keeps out of PATH."""
        found = [*Path("/usr/lib/postgresql").glob("*/bin/initdb"), *([Path(path)] if (path := shutil.which("initdb")) else [])]
        return found[0].parent if found else None

    def _run(self, program: str, *arguments: str, **options: object) -> subprocess.CompletedProcess:
        command = [str(self._programs() / program), *arguments]
        return subprocess.run(command, user=self.owner, cwd=self.folder, check=True, stdout=subprocess.PIPE, **options)

    def start(self) -> None:
        """Start it; return when it answers."""
        options = {"port": self.port, "listen_addresses": "127.0.0.1", "unix_socket_directories": "", "fsync": "off", "max_connections": 60}
        command = [str(self._programs() / "postgres"), "-D", str(self.folder / "data")]
        command += [word for name, value in options.items() for word in ("-c", f"{name}={value}")]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(command, user=self.owner, cwd=self.folder, stdout=log, stderr=log)
        self.wait()

    def wait(self) -> None:
        """Return when it answers; AssertionError after a minute."""
        command = [str(self._programs() / "pg_isready"), "-q", "-d", self.url]
        for _ in range(600):
            if subprocess.run(command, check=False).returncode == 0:
                return
            time.sleep(0.1)
        raise AssertionError(f"PostgreSQL did not answer: {(self.folder / 'log').read_text()}")

    def copy(self, url: str) -> None:
        """Fill it with the tables and rows of another database."""
        dump = subprocess.run([str(self._programs() / "pg_dump"), "--no-owner", "-d", url], check=True, stdout=subprocess.PIPE).stdout
        command = [str(self._programs() / "psql"), "-q", "-v", "ON_ERROR_STOP=1", "-d", self.url]
        subprocess.run(command, check=True, input=dump, stdout=subprocess.DEVNULL)

    def restart(self) -> None:
        """End it at once, with all its connections, and start it again."""
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait()
        self.start()

    def pids(self) -> list[int]:
        """Its processes, the one that starts the others first."""
        children = []
        for path in Path("/proc").glob("[0-9]*/stat"):
            try:
                parent = int(path.read_text().rpartition(")")[2].split()[1])
            except OSError:  # it has ended
                continue
            if parent == self.process.pid:
                children.append(int(path.parent.name))
        return [self.process.pid, *children]

    def freeze(self) -> None:
        """Stop all its processes: connections stay, and nothing answers on them."""
        for pid in self.pids():
            os.kill(pid, signal.SIGSTOP)

    def thaw(self) -> None:
        """Let all its processes go on."""
        for pid in self.pids():
            os.kill(pid, signal.SIGCONT)

    def remove(self) -> None:
        self.thaw()
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
