"""Commands and options that had another name before version 1.0."""

from __future__ import annotations

import pytest

import manage


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["seal_anew"], "seal_anew is called rotate_secret_key now."),
        (["demo", "--keep-trials"], "--keep-trials is called --keep-acceptance-tests now."),
        (["study", "import", "c/p", "votes.csv", "--made-up"], "--made-up is called --simulated now."),
    ],
)
def test_an_earlier_name_is_refused_with_the_new_one(monkeypatch, command, said):
    monkeypatch.setattr("sys.argv", ["manage.py", *command])
    with pytest.raises(SystemExit, match=said):
        manage.main()
