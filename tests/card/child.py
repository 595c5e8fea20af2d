"""The scoring child, which takes the weights that the check drew at random for the published ones."""

from __future__ import annotations

from evaluation.work import child
from tests.card.material import accept_random_weights

if __name__ == "__main__":
    accept_random_weights()
    child.main()
