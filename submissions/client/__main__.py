"""`python -m submissions.client`: see `submissions.client.command`."""

from __future__ import annotations

from submissions.client.broken_pipe import end
from submissions.client.command import main

if __name__ == "__main__":
    end(main)
