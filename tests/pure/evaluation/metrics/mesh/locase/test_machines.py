"""The same value on every machine: kernels of other processors, as OpenBLAS, torch and the C library choose them when asked to."""

import hashlib
import json
import os
import platform
import subprocess
import sys

import numpy as np
import pytest

from evaluation.metrics.mesh.locase.alignment import shape
from evaluation.metrics.mesh.locase.sampling import Surroundings, sampled, sampling
from evaluation.synthetic.distortions import distort
from evaluation.synthetic.surfaces import box, joined
from submissions.formats.arrays import Mesh
from tests import ROOT

CUBE = Mesh(*box((0, 0, 0), (1, 1, 1), 0.25))
LEGS = [box((x, y, 0), (x + 0.2, y + 0.2, 0.7), 0.1) for x in (0, 1.8) for y in (0, 1.8)]
TABLE = Mesh(*joined([box((0, 0, 0.7), (2, 2, 0.8), 0.1), *LEGS]))
OCTAHEDRON = Mesh(
    np.concatenate([np.eye(3), -np.eye(3)]),
    np.array([[0, 1, 2], [1, 3, 2], [3, 4, 2], [4, 0, 2], [1, 0, 5], [3, 1, 5], [4, 3, 5], [0, 4, 5]]),
)
SOLIDS = (CUBE, TABLE, OCTAHEDRON)
MACHINES = {
    "two threads": {"OPENBLAS_NUM_THREADS": "2"},
    "Prescott": {"OPENBLAS_CORETYPE": "Prescott", "ATEN_CPU_CAPABILITY": "default", "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA"},
    "Sandybridge": {"OPENBLAS_CORETYPE": "Sandybridge"},
}


def digests():
    """The last bit of all that the network is shown of each solid, and of its copy with noise."""
    made = []
    for whole in SOLIDS:
        how = sampling(shape(whole.vertices, whole.faces))
        for mesh in (whole, distort(whole, "noise", 2)):
            points = sampled(shape(mesh.vertices, mesh.faces), how)
            around = Surroundings(points.points).patches(np.arange(len(points.points)), how.radius)
            made.append(hashlib.sha256(points.points.tobytes() + points.weights.tobytes() + around.tobytes()).hexdigest())
    return made


def on(name, function):
    """Result of a function of a file of tests with the kernels of a machine; skips where libraries do not take their name."""
    library = np.show_config(mode="dicts")["Build Dependencies"]["blas"]["name"]
    if "openblas" not in library:
        pytest.skip(f"numpy's products are by {library}, which takes no kernel by name")
    if "OPENBLAS_CORETYPE" in MACHINES[name] and platform.machine() not in ("x86_64", "AMD64"):
        pytest.skip(f"OpenBLAS has no kernels of {name} on {platform.machine()}")
    code = f"import json; from {function.__module__} import {function.__name__} as it; print(json.dumps(it()))"
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", **MACHINES[name]}
    ran = subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT, env=environment, stdout=subprocess.PIPE)
    return json.loads(ran.stdout)


@pytest.mark.parametrize("name", MACHINES)
def test_of_symmetric_solids_every_machine_shows_the_network_the_same_bits(name):
    assert on(name, digests) == digests()


def test_a_table_elsewhere_is_seen_at_the_same_points():
    """Its cells and neighbourhoods are full of points that are equally near, between which the place's rounding must not choose."""
    long = TABLE.vertices * [1.5, 1, 1]
    first = shape(long, TABLE.faces)
    how = sampling(first)
    seen = sampled(first, how)
    for far in ([7, -3, 11], [1e3, 0, 0]):
        again = shape(long + far, TABLE.faces)
        assert sampling(again).cell == how.cell and sampling(again).folds == how.folds
        assert sampled(again, how).points == pytest.approx(seen.points, abs=2e-9)


def test_points_that_are_equally_near_come_in_the_order_of_their_numbers():
    lattice = np.stack(np.meshgrid(*[np.arange(-3.0, 4.0)] * 3), -1).reshape(-1, 3)
    number, distance = Surroundings(lattice).neighbours(np.arange(len(lattice)))
    square = ((lattice[:, None] - lattice) ** 2).sum(axis=-1)
    for query in range(len(lattice)):
        assert number[query].tolist() == np.lexsort((np.arange(len(lattice)), square[query]))[:64].tolist()
    assert np.array_equal(distance, np.sqrt(np.take_along_axis(square, number, axis=1)))
