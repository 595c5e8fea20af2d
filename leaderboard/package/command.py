"""plumbline: check an entry, score it, upload it, follow it; analyse a study; work for a server.

    plumbline check ENTRY --manifest manifest.json         say what the server would say
    plumbline score ENTRY REFERENCE --manifest FILE        the server's scores, on this machine
    plumbline compare NEW.json OLD.json --fail-if-worse    of two saved results: is a metric significantly worse?
    plumbline plot CHART.pdf A.json B.json                 draw saved results with their intervals
    plumbline upload ENTRY --server URL --challenge NAME --phase NAME --method "My method" --wait
    plumbline status ID --server URL                       print the state of an entry
    plumbline metrics                                      list the metrics
    plumbline study STUDY.csv                              the analysis of votes or opinion scores from 1 to 5
    plumbline study STUDY.csv --scale 0:10                 of opinion scores on another scale; with --means of means
    plumbline info                                         the version, and libraries that differ from the server's
    plumbline worker --server URL --token-file FILE        score what waits on a server

`plumbline COMMAND --help` says more of each. Also: fetch (weights of networks), render, inpaint, corrupt, properties, train.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

from leaderboard.package import installed
from submissions.client.broken_pipe import end

# The module of each command. Only that of the given one is loaded: together they need every library that the package may use.
PROGRAMS = {
    **dict.fromkeys(("check", "upload", "status"), "submissions.client.command"),
    **dict.fromkeys(("metrics", "fetch", "train", "render", "inpaint", "corrupt", "properties"), "evaluation.__main__"),
    **dict.fromkeys(("score", "compare", "plot"), "leaderboard.package.score_command"),
    "study": "leaderboard.stats.__main__",
    "worker": "evaluation.work.remote_worker_client",
}
USAGE = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    command = words[0] if words else "--help"
    if command in ("-h", "--help"):
        print(__doc__.strip())
        return 0
    try:
        if command in ("--version", "info"):
            print(installed.description())
            if command == "info":
                print("\n".join(installed.differences() or ["The libraries have the server's versions."]))
            return 0
        if command not in PROGRAMS:
            print(f"There is no command {command!r}; `plumbline --help` lists those there are.", file=sys.stderr)
            return USAGE
        if command == "worker" and sys.platform != "linux":  # where half of what it imports is not there either
            print("A worker needs Linux: what it computes is limited by the kernel there.", file=sys.stderr)
            return USAGE
        if command == "score":  # as the server's scoring has it: several threads add in other orders; read when numpy is loaded
            os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
            for difference in installed.differences():
                print(f"warning: {difference}", file=sys.stderr)
        is_brought = command == "study" and {"--means", "--scale"} & {word.partition("=")[0] for word in words}
        program = import_module("leaderboard.package.study_command" if is_brought else PROGRAMS[command])
        if command == "worker":
            return program.main(words[1:], os.environ)
        return program.main(words[1:] if command == "study" else words)
    except ModuleNotFoundError as error:
        sentence = installed.missing(error.name or "", command)
        if not sentence:
            raise
        print(sentence, file=sys.stderr)
        return USAGE


def run() -> NoReturn:
    """The command as a program."""
    end(main)
