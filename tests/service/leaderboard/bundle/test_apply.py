"""From a folder to the database and back: what is planned is what is done, once, all or nothing."""

from __future__ import annotations

import filecmp
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from PIL import Image

from evaluation.models import EvaluationBatch, PhaseMetric
from leaderboard.bundle import apply as bundle_apply
from leaderboard.bundle.accounts import with_accounts
from leaderboard.bundle.apply import PlanChanged, apply, plan_for
from leaderboard.bundle.export import export
from leaderboard.bundle.parse import parse
from leaderboard.bundle.state import read
from submissions.errors import Refused
from submissions.formats.yaml_document import DocumentError
from submissions.models import AuditEntry, Challenge, ChallengeFile, Phase, Submission
from submissions.storage import stored_files
from tests.support.factories import UserFactory, archive, gables, perturbed, received
from tests.support.leaderboard.bundle.folders import SMALL, WHOLE, write_bundle


@pytest.fixture
def organizers(db):
    second = UserFactory(username="second")
    second.emailaddress_set.create(email="second@example.org", verified=True, primary=True)
    return UserFactory(username="organizer"), second


@pytest.fixture
def small(db, tmp_path):
    """The small bundle, applied, and its folder."""
    folder = write_bundle(tmp_path / "small")
    apply(parse(folder).definition)
    return folder


def changed(folder: Path, old: str, new: str):
    text = (folder / "challenge.yaml").read_text()
    assert old in text
    (folder / "challenge.yaml").write_text(text.replace(old, new, 1))
    return parse(folder).definition


def with_metrics(folder: Path, columns: list[str]):
    (folder / "challenge.yaml").write_text(SMALL.replace("- key: corner_f1", "\n      ".join(f"- {column}" for column in columns)))
    return parse(folder).definition


def same_folders(a: Path, b: Path) -> list[str]:
    """Names of files that differ or stand in one folder only."""
    names = {str(path.relative_to(root)) for root in (a, b) for path in root.rglob("*") if path.is_file()}
    _, different, missing = filecmp.cmpfiles(a, b, names, shallow=False)
    return different + missing


def test_applying_makes_everything_the_bundle_says(organizers, tmp_path):
    definition = with_accounts(parse(write_bundle(tmp_path, WHOLE)))
    apply(definition)
    challenge = Challenge.objects.get(slug="roofs")
    assert read(challenge) == definition
    assert [user.username for user in challenge.organizers.order_by("username")] == ["organizer", "second"]
    assert len(challenge.access_key) >= 20
    final = challenge.phases.get(slug="final")
    assert EvaluationBatch.current(final).reference.groups == ["house_03", "north", "north"]
    assert final.manifest.item_ids == ("house_03", "house_01", "house_02"), "by group, then id"
    assert (final.manifest.missing, final.manifest.unit_scale) == ("worst", 0.01)
    stored = ChallengeFile.objects.get(name="final points.zip")
    assert stored_files.store().read(stored.key) == b"points"


def test_a_second_apply_has_nothing_to_do(organizers, tmp_path):
    definition = with_accounts(parse(write_bundle(tmp_path, WHOLE)))
    apply(definition)
    entries, batches = AuditEntry.objects.count(), EvaluationBatch.objects.count()
    assert apply(definition).is_empty
    assert (AuditEntry.objects.count(), EvaluationBatch.objects.count()) == (entries, batches)


def test_an_export_applied_elsewhere_exports_identical_files(organizers, tmp_path):
    apply(with_accounts(parse(write_bundle(tmp_path / "bundle", WHOLE))))
    export(read(Challenge.objects.get()), tmp_path / "first")
    EvaluationBatch.objects.all().delete()
    Challenge.objects.all().delete()
    apply(with_accounts(parse(tmp_path / "first")))
    export(read(Challenge.objects.get()), tmp_path / "second")
    assert same_folders(tmp_path / "first", tmp_path / "second") == []
    assert len(list((tmp_path / "first").rglob("*.json"))) == 6


def test_an_export_goes_into_an_empty_folder_only(small, tmp_path):
    with pytest.raises(Refused, match="not empty"):
        export(read(Challenge.objects.get()), small)


def test_a_failure_in_the_middle_leaves_nothing_behind(db, tmp_path, monkeypatch):
    definition = parse(write_bundle(tmp_path)).definition

    def fails(*args, **values):
        raise RuntimeError("the disk is gone")

    monkeypatch.setattr(EvaluationBatch, "start", fails)
    with pytest.raises(RuntimeError):
        apply(definition)
    assert not Challenge.objects.exists() and not AuditEntry.objects.exists()


def test_a_changed_field_is_planned_done_and_kept_in_the_audit_log(small):
    definition = changed(small, "title: Final", "title: Final\n    limit_per_day: 5")
    change = plan_for(definition).changes[0]
    assert (change.kind, change.path, change.field, change.before, change.after) == ("change", ("phase final",), "limit_per_day", None, 5)
    organizer = UserFactory()
    apply(definition, organizer)
    assert Phase.objects.get().limit_per_day == 5
    entry = AuditEntry.objects.first()
    assert (entry.action, entry.target, entry.actor, entry.detail) == (
        "phase.edit",
        "phase final",
        organizer,
        {"before": {}, "after": {"limit_per_day": 5}},
    )


def test_moments_are_shown_on_the_clocks_of_the_phase(small):
    change = plan_for(changed(small, "opens_at: 2026-01-01T00:00", "opens_at: 2026-01-02T08:30")).changes[0]
    assert (change.before, change.after) == ("2026-01-01T00:00 Europe/Prague", "2026-01-02T08:30 Europe/Prague")


def test_a_wider_limit_rewrites_the_manifest_without_scoring_anew(small):
    apply(changed(small, "title: Final", "title: Final\n    missing: worst\n    size_factor: 40"))
    assert EvaluationBatch.objects.count() == 1
    manifest = Phase.objects.get().manifest
    assert manifest.missing == "worst"
    assert manifest.items[0].limits[0] == 640


@pytest.mark.parametrize("change", ["reference", "params", "metric", "unit"])
def test_what_changes_a_number_starts_a_batch(small, change):
    if change == "reference":
        (small / "reference" / "house_04.json").write_bytes((small / "reference" / "house_01.json").read_bytes())
        definition = parse(small).definition
    else:
        old, new = {
            "params": ("- key: corner_f1", "- key: corner_f1\n        params: {tau: 0.25}"),
            "metric": ("- key: corner_f1", "- key: corner_f1\n      - key: hss"),
            "unit": ("title: Final", "title: Final\n    unit_scale: 0.01"),
        }[change]
        definition = changed(small, old, new)
    plan = apply(definition)
    assert len(plan.rescorings) == 1
    batch = EvaluationBatch.current(Phase.objects.get())
    assert EvaluationBatch.objects.count() == 2
    assert batch.reference.version == (2 if change == "reference" else 1)
    assert apply(definition).is_empty


def test_titles_weights_and_order_reach_the_board_without_scoring_anew(small):
    apply(changed(small, "- key: corner_f1", "- key: corner_f1\n      - key: hss"))
    before = EvaluationBatch.current(Phase.objects.get())
    plan = apply(
        changed(small, "- key: corner_f1\n      - key: hss", "- {key: hss, weight: 3, primary: true}\n      - {key: corner_f1, title: F1}")
    )
    assert not plan.rescorings
    after = EvaluationBatch.current(Phase.objects.get())
    assert after.pk == before.pk
    assert [(m["slug"], m["weight"], m["is_primary"], m["title"]) for m in after.metrics] == [
        ("hss", 3.0, True, "HSS"),
        ("corner_f1", 1.0, False, "F1"),
    ]


def test_two_columns_of_one_title_are_told_apart_by_what_differs_in_them(small):
    columns = [
        "{key: corner_f1, slug: near, params: {tau: 0.1}}",
        "{key: corner_f1, slug: far, params: {tau: 1}}",
        "{key: hss, title: Order}",
        "{key: corner_f1, slug: other, title: Order}",
        "{key: edge_f1, title: Alone}",
    ]
    apply(with_metrics(small, columns))
    titles = [column["title"] for column in EvaluationBatch.latest(Phase.objects.get()).metrics]
    assert titles == ["Corner F1 (tau 0.1)", "Corner F1 (tau 1.0)", "Order (hss)", "Order (other)", "Alone"]
    columns[2] = "{key: hss}"
    apply(with_metrics(small, columns))
    titles = [column["title"] for column in EvaluationBatch.latest(Phase.objects.get()).metrics]
    assert titles == ["Corner F1 (tau 0.1)", "Corner F1 (tau 1.0)", "HSS", "Order", "Alone"]


def test_a_phase_whose_weights_would_all_be_0_is_refused_where_no_file_says_so(small):
    definition = parse(small).definition
    phase = definition.phases[0]
    weightless = replace(phase, ranking="weighted", metrics=tuple(replace(metric, weight=0.0) for metric in phase.metrics))
    assert len(plan_for(replace(definition, phases=(weightless,))).refusals) == 1
    # One that is so already can be changed in other things.
    PhaseMetric.objects.update(weight=0.0)
    Phase.objects.update(ranking="weighted")
    assert not plan_for(replace(definition, phases=(replace(weightless, title="Other"),))).refusals


def test_a_freeze_at_a_past_moment_asks_before_it_takes_entries_off_the_board(small):
    phase = Phase.objects.get()
    team = phase.challenge.teams.create(name="Ridge")
    for day in (1, 2, 3):
        entry = received(phase, team, archive(gables(3)))
        Submission.objects.filter(pk=entry.pk).update(status="scored", received_at=datetime(2026, 6, day, 12, tzinfo=UTC))

    def warnings(moment: str) -> list[str]:
        text = SMALL.replace("title: Final", f"title: Final\n    board: frozen\n    board_at: {moment}")
        (small / "challenge.yaml").write_text(text)
        return plan_for(parse(small).definition).warnings

    (everything,), (some,) = warnings("2026-05-01T00:00"), warnings("2026-06-02T00:00")
    assert "2026-05-01T00:00 Europe/Prague" in everything and "2 of 3" not in everything
    assert "2026-06-02T00:00 Europe/Prague" in some and "2 of 3" in some
    assert warnings("2026-06-04T00:00") == [] and warnings("2199-01-01T00:00") == []


def test_the_reference_of_an_earlier_version_is_found_again(small):
    first = (small / "reference" / "house_01.json").read_bytes()
    (small / "reference" / "house_01.json").write_bytes(first.replace(b"8.0", b"8.5"))
    plan = apply(parse(small).definition)
    items = next(change for change in plan.changes if change.field == "items")
    assert items.before == "version 1, 3 items" and "1 changed" in items.after
    (small / "reference" / "house_01.json").write_bytes(first)
    plan = apply(parse(small).definition)
    items = next(change for change in plan.changes if change.field == "items")
    assert (items.before, items.after) == ("version 2, 3 items", "version 1, 3 items (1 changed)")
    phase = Phase.objects.get()
    assert phase.references.count() == 2
    assert EvaluationBatch.current(phase).reference.version == 1


def test_a_bundle_without_the_reference_leaves_the_stored_one(small):
    assert apply(changed(small, "    reference:\n      path: reference\n", "")).is_empty


def test_a_phase_with_entries_is_never_removed(small, people):
    phase = Phase.objects.get(challenge__slug="roofs")
    phase.challenge.teams.create(name="Ridge")
    received(phase, phase.challenge.teams.get(), archive(gables(3)))
    text = SMALL[: SMALL.index("phases:")]
    (small / "challenge.yaml").write_text(text)
    definition = parse(small).definition
    (refusal,) = plan_for(definition).refusals
    assert "1 entry" in refusal
    with pytest.raises(Refused) as refused:
        apply(definition)
    assert refused.value.code == "plan_refused"
    assert Phase.objects.filter(pk=phase.pk).exists()


def test_a_phase_without_entries_goes_with_all_that_was_made_for_it(small, django_capture_on_commit_callbacks):
    phase = Phase.objects.get()
    key = phase.references.get().key
    (small / "challenge.yaml").write_text(SMALL[: SMALL.index("phases:")])
    with django_capture_on_commit_callbacks(execute=True):
        plan = apply(parse(small).definition)
    assert plan.needs_confirmation
    assert not Phase.objects.exists() and not EvaluationBatch.objects.exists()
    assert not stored_files.store().exists(key)


def test_a_replaced_file_gets_new_bytes_and_the_old_ones_go(organizers, tmp_path, django_capture_on_commit_callbacks):
    folder = write_bundle(tmp_path, WHOLE)
    apply(with_accounts(parse(folder)))
    old = ChallengeFile.objects.get(name="points.zip").key
    (folder / "inputs" / "points.zip").write_bytes(b"more points")
    with django_capture_on_commit_callbacks(execute=True):
        apply(with_accounts(parse(folder)))
    row = ChallengeFile.objects.get(name="points.zip")
    assert stored_files.store().read(row.key) == b"more points"
    assert (row.size, stored_files.store().exists(old)) == (11, False)


def test_how_a_closed_phase_ranks_stays_as_it_is(small, people):
    apply(changed(small, "title: Final", "title: Final\n    ranking: borda"))
    phase = Phase.objects.get(challenge__slug="roofs")
    phase.challenge.teams.create(name="Ridge")
    received(phase, phase.challenge.teams.get(), archive(gables(3)))
    apply(changed(small, "title: Final", "title: Final\n    closes_at: 2026-01-02T00:00"))
    with pytest.raises(Refused, match="has closed with 1 entry"):
        apply(changed(small, "ranking: borda", "ranking: mean_rank"))
    changed(small, "ranking: mean_rank", "ranking: borda")
    assert plan_for(changed(small, "- key: corner_f1", "- key: corner_f1\n      - {key: hss, in_ranking: false}")).refusals == ()


def test_an_organizer_without_an_account_is_named_with_the_line(organizers, tmp_path):
    text = WHOLE.replace("[organizer, second@example.org]", "[organizer, third@example.org]")
    with pytest.raises(DocumentError, match=r"line 12: organizers\[1\]: expected somebody with an account here; .*“third@example\.org”"):
        with_accounts(parse(write_bundle(tmp_path, text)))


def test_an_address_nobody_proved_makes_nobody_an_organizer(organizers, tmp_path):
    organizers[1].emailaddress_set.update(verified=False)
    with pytest.raises(DocumentError, match=r"second@example\.org"):
        with_accounts(parse(write_bundle(tmp_path, WHOLE)))


def test_the_last_organizer_is_not_removed(organizers, tmp_path):
    definition = with_accounts(parse(write_bundle(tmp_path, WHOLE)))
    apply(definition)
    with pytest.raises(Refused, match="at least one organizer"):
        apply(replace(definition, organizers=()))


def test_what_was_confirmed_is_what_is_done(small):
    definition = changed(small, "title: Final", "title: The final")
    digest = plan_for(definition).digest
    Phase.objects.update(limit_total=7)
    with pytest.raises(PlanChanged):
        apply(definition, expected=digest)
    assert Phase.objects.get().title == "Final"


def test_entries_are_counted_and_scored_anew_under_the_new_reference(small, scored, people):
    phase = people.team.challenge.phases.get()
    scored(0.1), scored(0.2, seed=1)
    definition = read(phase.challenge)
    metric = replace(definition.phases[0].metrics[0], params={"tau": 0.25})
    after = replace(definition, phases=(replace(definition.phases[0], metrics=(metric, *definition.phases[0].metrics[1:])),))
    plan = apply(after, people.organizer)
    assert [(it.entries, it.reason) for it in plan.rescorings] == [(2, "other metrics")]
    batch = EvaluationBatch.latest(phase)
    assert (batch.state, batch.progress()["total"], batch.created_by) == ("building", 2, people.organizer)


def test_perturbed_items_of_equal_names_count_as_changed(small):
    definition = read(Challenge.objects.get())
    moved = perturbed(gables(3), 1e-9)
    reference = replace(definition.phases[0].reference, sha256="other", load=lambda: moved, version=None)
    plan = plan_for(replace(definition, phases=(replace(definition.phases[0], reference=reference),)))
    assert "3 changed" in str(plan.changes[0].after)


def test_equal_items_packed_elsewhere_change_nothing(small):
    definition = read(Challenge.objects.get())
    reference = replace(definition.phases[0].reference, sha256="of another zlib", version=None)
    assert plan_for(replace(definition, phases=(replace(definition.phases[0], reference=reference),))).is_empty


def test_what_workers_write_of_a_phase_meanwhile_is_not_written_back(small, monkeypatch):
    """A worker counts the board's changes up and publishes manifests while a definition is applied."""
    checked = bundle_apply.checked

    def with_a_worker_in_between(row, exclude=None):
        if isinstance(row, Phase):
            Phase.objects.filter(pk=row.pk).update(board_revision=1000, manifest_data={"newer": True})
        return checked(row, exclude)

    monkeypatch.setattr(bundle_apply, "checked", with_a_worker_in_between)
    apply(changed(small, "title: Final", "title: Last"))
    phase = Phase.objects.get()
    assert (phase.title, phase.board_revision, phase.manifest_data) == ("Last", 1001, {"newer": True})


def test_a_new_title_reaches_the_rankings(organizers, tmp_path):
    definition = with_accounts(parse(write_bundle(tmp_path, WHOLE)))
    apply(definition)
    before = dict(Phase.objects.values_list("slug", "board_revision"))
    apply(replace(definition, title="Another title"))
    assert [(slug, revision) for slug, revision in Phase.objects.values_list("slug", "board_revision") if not revision > before[slug]] == []


def test_pages_and_pictures_come_back_from_files(small, tmp_path):
    (small / "pictures").mkdir()
    Image.new("RGB", (1600, 400), "navy").save(small / "pictures" / "logo.jpg", quality=60)
    (small / "faq.md").write_text("![logo](pictures/logo.jpg)")
    more = "title: Roofs\npages:\n  - {slug: faq, title: FAQ, body_file: faq.md}\n  - {slug: prizes, title: Prizes, body: None yet.}\n"
    definition = changed(small, "title: Roofs\n", f"{more}pictures:\n  - path: pictures/logo.jpg\n")
    assert apply(definition).counts() == {"create": 3, "change": 0, "remove": 0}
    challenge = Challenge.objects.get()
    assert list(challenge.pages.values_list("slug", "body")) == [("faq", "![logo](pictures/logo.jpg)"), ("prizes", "None yet.")]
    assert challenge.logo is not None and Image.open(stored_files.store().local_path(challenge.logo.key)).size == (1200, 300)
    assert plan_for(parse(small).definition).is_empty
    export(read(challenge), tmp_path / "again")
    assert plan_for(parse(tmp_path / "again").definition).is_empty, "its bytes are the stored ones, which are not written anew"
    swapped = replace(read(challenge), pages=read(challenge).pages[::-1])
    assert [change.field for change in apply(swapped).changes] == ["order of pages"]
    assert [page.slug for page in challenge.pages.all()] == ["prizes", "faq"]
