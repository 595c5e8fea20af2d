import hashlib

import numpy as np

from evaluation.metrics.seeds import generator


def test_the_seed_is_the_first_eight_bytes_of_the_hash_of_metric_and_seed0():
    seed = int.from_bytes(hashlib.sha256(b"jaccard_distance:0").digest()[:8], "little")
    expected = np.random.Generator(np.random.PCG64(seed)).random(5)
    assert np.array_equal(generator("jaccard_distance").random(5), expected)


def test_another_metric_or_seed0_gives_other_numbers():
    first = generator("jaccard_distance", 0).random()
    assert first not in (generator("jaccard_distance", 1).random(), generator("ecd_chamfer", 0).random())
