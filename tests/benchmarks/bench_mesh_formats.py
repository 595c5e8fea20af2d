"""Cost of reading a mesh in each format, beside trimesh on the same bytes.

    python -m tests.benchmarks.bench_mesh_formats [--faces 100000]

The mesh is a sphere. The peer is called without merging or cleaning; its readers keep 32 bits where
the format does and check nothing of what they are given. Exits with 1 where 100,000 faces of OBJ
take longer than a second.
"""

from __future__ import annotations

import argparse
import io
import sys

import numpy as np
import trimesh

from submissions.formats.mesh.mesh_files import Mesh, read_mesh, write_obj, write_ply
from tests.benchmarks.timing import shortest

LIMIT_SECONDS, ROUNDS = 1.0, 3


def files(faces: int) -> dict[str, bytes]:
    """The same sphere in every format, by a label that ends in the suffix."""
    side = max(4, round((faces / 8) ** 0.5))
    sphere = trimesh.creation.uv_sphere(count=[side, 2 * side])
    item = Mesh(np.array(sphere.vertices), np.array(sphere.faces, np.int64))
    plain = write_obj(item)
    corners = "\n".join(f"f {a}/{a}/{a} {b}/{b}/{b} {c}/{c}/{c}" for a, b, c in (item.faces + 1).tolist())
    points, _, _ = plain.partition(b"\nf ")
    return {
        "obj": plain,
        "with texture obj": points + b"\nvt 0 0\nvn 0 0 1\n" + corners.encode() + b"\n",
        "binary ply": write_ply(item),
        "text ply": trimesh.exchange.ply.export_ply(sphere, encoding="ascii"),
        "binary stl": trimesh.exchange.stl.export_stl(sphere),
        "text stl": trimesh.exchange.stl.export_stl_ascii(sphere).encode(),
        "off": trimesh.exchange.off.export_off(sphere).encode(),
        "glb": trimesh.exchange.gltf.export_glb(sphere),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--faces", type=int, default=100_000)
    faces = parser.parse_args().faces
    slow = False
    for label, data in files(faces).items():
        suffix = label.split()[-1]
        sides = {
            "ours": lambda data=data, suffix=suffix: read_mesh(data, f"a.{suffix}"),
            "trimesh": lambda data=data, suffix=suffix: trimesh.load(io.BytesIO(data), file_type=suffix, process=False),
        }
        own, peer = shortest(sides, ROUNDS)[0].values()
        print(f"  {label:<18} {len(data) / 1e6:6.1f} MB {1000 * own:8.1f} ms, trimesh {1000 * peer:8.1f} ms, ratio {own / peer:6.2f}")
        slow |= suffix == "obj" and own * 100_000 / faces > LIMIT_SECONDS
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
