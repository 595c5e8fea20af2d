"""`manage.py challenge`: what it prints, what it asks, and when it stops."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from evaluation.models import EvaluationBatch
from leaderboard.bundle.accounts import with_accounts
from leaderboard.bundle.apply import plan_for
from leaderboard.bundle.parse import parse
from submissions.models import Challenge, Phase, User
from tests.support.factories import TeamFactory, UserFactory, archive, confirmed, gables, received
from tests.support.leaderboard.bundle.folders import SMALL, write_bundle

pytestmark = pytest.mark.django_db


def run(*words) -> list[str]:
    out = io.StringIO()
    call_command("challenge", *map(str, words), stdout=out)
    return out.getvalue().splitlines()


def changes_nothing(folder: Path) -> bool:
    return plan_for(with_accounts(parse(folder))).is_empty


def test_a_plan_of_a_new_challenge_lists_what_would_be_made_and_makes_nothing(tmp_path):
    lines = run("plan", write_bundle(tmp_path))
    assert lines[0] == "+ challenge roofs"
    assert "+ phase final / metric corner_f1" in lines
    assert "    items: 3 items" in lines
    assert lines[-2].startswith("! phase final: ") and re.findall(r"\d+", lines[-1]) == ["4", "0", "0"]
    assert not Challenge.objects.exists()


def test_apply_makes_it_so_and_then_has_nothing_to_change(tmp_path):
    folder = write_bundle(tmp_path)
    assert run("apply", folder, "--yes")[-1] == "Done."
    assert Phase.objects.get().title == "Final"
    assert len(run("apply", folder, "--yes")) == 1
    assert EvaluationBatch.objects.count() == 1


def test_apply_asks_first_and_no_means_no(tmp_path, monkeypatch):
    monkeypatch.setattr("builtins.input", lambda question: "n")
    with pytest.raises(CommandError, match="Nothing was changed"):
        run("apply", write_bundle(tmp_path))
    assert not Challenge.objects.exists()


def test_a_plan_says_how_many_entries_would_be_scored_anew(tmp_path):
    folder = write_bundle(tmp_path)
    run("apply", folder, "--yes")
    phase = Phase.objects.get()
    entry = received(phase, TeamFactory(challenge=phase.challenge), archive(gables(3)))
    type(entry).objects.update(status="scored", artifact_key="there")
    (folder / "challenge.yaml").write_text(SMALL.replace("- key: corner_f1", "- key: corner_f1\n        params: {tau: 0.25}"))
    lines = run("plan", folder)
    assert '    params: nothing -> {"tau": 0.25}' in lines
    assert [line for line in lines if line.startswith("! phase final: ") and "1 entry" in line]


def test_long_texts_are_compared_line_by_line(tmp_path):
    folder = write_bundle(tmp_path, SMALL.replace("title: Roofs", "title: Roofs\nrules_file: texts/rules.md", 1))
    run("apply", folder, "--yes")
    (folder / "texts" / "rules.md").write_text("Be fair.\nBe kind.\n")
    assert run("plan", folder)[1:3] == ["    rules:", "      +Be kind."]


def test_wrong_yaml_stops_with_the_line(tmp_path):
    folder = write_bundle(tmp_path, SMALL.replace("title: Final", "titel: Final"))
    with pytest.raises(CommandError, match=r"line 5: phases\[0\].titel: unknown key; did you mean title\?"):
        run("apply", folder, "--yes")


def test_a_refused_plan_is_printed_and_not_done(tmp_path):
    folder = write_bundle(tmp_path)
    run("apply", folder, "--yes")
    received(Phase.objects.get(), TeamFactory(challenge=Challenge.objects.get()), archive(gables(3)))
    (folder / "challenge.yaml").write_text("slug: roofs\ntitle: Roofs\n")
    with pytest.raises(CommandError, match="Nothing was changed"):
        run("apply", folder, "--yes")
    assert Phase.objects.exists()


def test_export_writes_a_bundle_that_changes_nothing(tmp_path):
    run("apply", write_bundle(tmp_path / "a"), "--yes")
    assert run("export", "roofs", tmp_path / "b") == [f"roofs is in {tmp_path / 'b'}."]
    assert changes_nothing(tmp_path / "b")


def test_export_of_an_unknown_challenge_names_those_there_are(tmp_path):
    run("apply", write_bundle(tmp_path / "a"), "--yes")
    with pytest.raises(CommandError, match="There is no challenge “rofs” here; there are: roofs"):
        run("export", "rofs", tmp_path / "b")


# --- organizers --------------------------------------------------------------------------------


def organized_by(folder: Path, *names: str) -> Path:
    (folder / "challenge.yaml").write_text(SMALL.replace("title: Roofs", f"title: Roofs\norganizers: [{', '.join(names)}]", 1))
    return folder


def organizers() -> set[str]:
    return {user.username for user in Challenge.objects.get().organizers.all()}


def test_an_impostor_named_in_a_bundle_is_refused_by_line(tmp_path):
    confirmed("ann", "ann@lab.example.org")
    confirmed("ann@lab.example.org", "eve@example.org")
    UserFactory(username="bob@lab.example.org")
    folder = organized_by(write_bundle(tmp_path), "ann@lab.example.org", "bob@lab.example.org", "nobody")
    with pytest.raises(CommandError) as caught:
        run("apply", folder, "--yes")
    lines = str(caught.value).splitlines()
    names = ("ann@lab.example.org", "bob@lab.example.org", "nobody")
    for n, (line, name) in enumerate(zip(lines, names, strict=False)):
        assert line.startswith(f"challenge.yaml: line 3: organizers[{n}]: ") and f"“{name}”" in line
    assert not Challenge.objects.exists()


def test_organizers_with_old_user_names_are_exported_by_their_addresses_and_come_back(tmp_path):
    old = confirmed("bob@lab.example.org", "bob@home.example.org")
    confirmed("eve@lab.example.org", "eve@lab.example.org")
    UserFactory(username="olga")
    run("apply", organized_by(write_bundle(tmp_path / "given"), "olga", "bob@home.example.org", "Eve@lab.example.org"), "--yes")
    assert organizers() == {"olga", "bob@lab.example.org", "eve@lab.example.org"}
    run("export", "roofs", tmp_path / "written")
    text = (tmp_path / "written" / "challenge.yaml").read_text()
    assert "organizers:\n- bob@home.example.org\n- eve@lab.example.org\n- olga\n" in text
    assert changes_nothing(tmp_path / "written")
    # An address by which somebody else could be found is not written.
    UserFactory(username="bob@home.example.org")
    with pytest.raises(CommandError, match=r"“bob@lab\.example\.org” has an e-mail address as user name"):
        run("export", "roofs", tmp_path / "again")
    old.emailaddress_set.create(email="bob@work.example.org", verified=True)
    run("export", "roofs", tmp_path / "once-more")
    assert "- bob@work.example.org\n" in (tmp_path / "once-more" / "challenge.yaml").read_text()
    User.objects.filter(username="bob@home.example.org").delete()
    assert changes_nothing(tmp_path / "once-more")
