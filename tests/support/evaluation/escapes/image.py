"""An image for podman with nothing from a hub: the Python that the machine's own packages installed, and a file to run."""

from __future__ import annotations

import io
import re
import subprocess
import tarfile
from pathlib import Path

PYTHON = Path("/usr/bin/python3")
NAME = "localhost/plumbline-escapes"


def make(folder: Path, script: Path) -> str:
    """The name with its digest of an image that holds /usr/bin/python3 with its library and `script` at the root."""
    binary = PYTHON.resolve()
    library = Path("/usr/lib") / binary.name
    objects = [binary, *library.glob("lib-dynload/*.so")]
    linked = subprocess.run(["ldd", *map(str, objects)], capture_output=True, text=True).stdout
    needed = {Path(found) for found in re.findall(r"(/\S+\.so\S*)", linked) if not found.endswith(":")}
    path = folder / "image.tar"
    with tarfile.open(path, "w") as packed:
        packed.add(binary, "usr/bin/python3")
        packed.add(library, f"usr/lib/{binary.name}", filter=_without_tests)
        for one in sorted(needed):
            packed.add(one.resolve(), str(one).lstrip("/"))
        packed.add(script, "attempts.py")
        for name in ("work", "tmp", "proc", "dev", "sys", "etc"):
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            packed.addfile(entry)
        entry = tarfile.TarInfo("etc/passwd")
        data = b"nobody:x:65534:65534::/:/bin/false\n"
        entry.size = len(data)
        packed.addfile(entry, io.BytesIO(data))
    podman = ["podman", "--log-level=error"]
    subprocess.run([*podman, "import", "--quiet", str(path), f"{NAME}:latest"], check=True, capture_output=True)
    shown = subprocess.run(
        [*podman, "image", "inspect", "--format", "{{.Digest}}", f"{NAME}:latest"], check=True, capture_output=True, text=True
    )
    return f"{NAME}@{shown.stdout.strip()}"


def _without_tests(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    return None if {"test", "__pycache__", "idlelib", "dist-packages"} & set(Path(entry.name).parts) else entry
