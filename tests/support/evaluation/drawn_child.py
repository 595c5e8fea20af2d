"""The scoring child, which takes weights that a test drew at random for the published ones, and a small network for DINOv2."""

from __future__ import annotations

from evaluation.work import child
from tests.card.material import OF_THIS_PROCESS, accept_random_weights
from tests.support.evaluation.networks import random_weights

if __name__ == "__main__":
    accept_random_weights()
    random_weights.stand_in(OF_THIS_PROCESS)
    child.main()
