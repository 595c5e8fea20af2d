#!/usr/bin/env python
"""Django's command line for Plumbline."""

import os
import sys

RENAMED = {
    "seal_anew": "rotate_secret_key",
    "--keep-trials": "--keep-acceptance-tests",
    "--made-up": "--simulated",
}  # names from before version 1.0


def main() -> None:
    for word in sys.argv[1:]:
        if word in RENAMED:
            sys.exit(f"{word} is called {RENAMED[word]} now.")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except Exception as error:
        sys.exit(_sentence(error))


def _sentence(error: Exception) -> str:
    """Sentence on the fault of the database, where that is what broke; any other error goes on as it is."""
    from django.db import OperationalError, ProgrammingError

    if isinstance(error, OperationalError | ProgrammingError):
        from submissions.database import behind

        try:
            sentence = behind()
        except OperationalError as silent:
            return f"The database does not answer ({' '.join(str(silent).split())}); see PLUMBLINE_DATABASE_URL and PLUMBLINE_SQLITE."
        if sentence and sys.argv[1:2] != ["migrate"]:
            return f"{sentence}\nThe database said: {' '.join(str(error).split())}"
    raise error


if __name__ == "__main__":
    main()
