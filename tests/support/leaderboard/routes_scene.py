"""A service with something in every state, for the table of routes: what the names in braces mean."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from django.utils import timezone

from evaluation.models import PictureRun, Process, Reference, Score, SuiteRun
from evaluation.properties.gate.design import ACCEPTANCE, SceneVerdict, Untried
from leaderboard.boards.scorecard import current_evaluation
from leaderboard.models import MetricChallenge, Snapshot, Study
from leaderboard.studies.analysis import analyse_due
from leaderboard.studies.judge import planning
from leaderboard.studies.judge.planning import Wish
from leaderboard.studies.live import campaign
from leaderboard.studies.live.access import join as join_study
from leaderboard.studies.live.ask import standing
from leaderboard.tasks import build_due_boards
from submissions.models import ApiToken, Challenge, ChallengeFile, Phase, Submission, Team, TeamMerge, User
from submissions.storage import stored_files, uploads
from tests.support import pictures
from tests.support.evaluation import programs
from tests.support.factories import (
    MESH_METRICS,
    ChallengeFactory,
    PhaseFactory,
    TeamFactory,
    UserFactory,
    archive,
    boxes,
    give_reference,
    join,
    perturbed,
    received,
)
from tests.support.leaderboard import scores
from tests.support.leaderboard.stats.ballots import simulated_votes
from tests.support.leaderboard.studies.live import making
from tests.support.people import People
from tests.support.submissions.hostile.renders import png

KEY = "the-key-of-the-private-one"
MASKED_VALUE = 0.7654321


def set_scene(phase: Phase, people: People, drain: Callable[[], object]) -> dict[str, object]:
    """Names of the table -> what stands in the address. `phase` is the people's own, open and public."""
    challenge = phase.challenge
    later = timezone.now() + timedelta(days=9)
    for kind in ("worker", "sweeper"):  # without them the service is not ready; they are heard of for as long as the table is walked
        Process.objects.create(kind=kind, name=f"here:{kind}", queues=["cpu"], started_at=timezone.now(), seen_at=later)
    phases = {"p": phase}
    phases["masked"] = _phase(challenge, board="hidden", board_at=later, withhold_scores=True, withhold_items=True)
    phases["open"] = _phase(challenge, reference_access="public")
    phases["coming"] = _phase(challenge, opens_at=later, closes_at=None)
    private = ChallengeFactory(visibility="private", access_key=KEY, title="Private-title")
    draft = ChallengeFactory(visibility="draft", access_key=KEY, title="Draft-title")
    for one in (private, draft):
        one.organizers.add(people.organizer)
    for one in (challenge, private, draft):
        one.pages.create(slug="faq", title=f"{one.title}, asked often", body="*No* question yet.")
        logo = png()
        stored_files.store().save_bytes(f"files/logo-{one.pk}", logo)
        one.files.create(
            kind="picture", name="logo.png", key=f"files/logo-{one.pk}", size=len(logo), sha256=hashlib.sha256(logo).hexdigest()
        )
    phases["pp"], phases["dp"] = _phase(private), _phase(draft)
    insiders = TeamFactory(challenge=private, name="Insiders")
    join(UserFactory(), insiders, leader=True)

    people.owner.has_page = True
    people.owner.save(update_fields=["has_page"])
    entries = _entries(phases, people, insiders)
    drain()
    entries |= _mesh_entries(people)
    entries |= _render_entries(people)
    drain()
    _flag(entries, people)
    Score.objects.filter(evaluation__submission=entries["masked_e"]).update(
        value=MASKED_VALUE, ci_low=MASKED_VALUE, ci_high=MASKED_VALUE, median=MASKED_VALUE, minimum=MASKED_VALUE, maximum=MASKED_VALUE
    )
    entries["busy"] = _received(phase, people.team, "method-busy", people.owner, 7)
    entries["uploading"] = uploads.start(people.owner, phase, file_name="e.zip", size=9, sha256="0" * 64, method_name="method-uploading")
    build_due_boards()
    _judge(phases)
    acceptance_tests = {
        "acceptance_test": _acceptance_test(entries["render_e"].phase),
        "acceptance_test_open": _acceptance_test(entries["render_open"].phase),
        "acceptance_test_private": _acceptance_test(phases["pp"]),
        "acceptance_test_masked": _acceptance_test(phases["masked"]),
    }
    names = _names(phases, private, draft, entries, people, insiders) | acceptance_tests
    return names | _rating(phase, people, [entries[name] for name in ("e", "e2", "e3")])


def _rating(phase: Phase, people: People, entries: list[Submission]) -> dict[str, object]:
    """A live study for those on its list: the owner, who has joined and is asked about the other team's two entries, and the mate,
    who has not; and one that is a draft."""
    study = making.live(phase, people.organizer, entries, access="listed")
    for user in (people.owner, people.mate):
        campaign.list_account(study, people.organizer, user)
    join_study(study, people.owner)
    invitation, token = campaign.invite(study, people.organizer)
    draft = making.live(phase, people.organizer, entries, opened=False, slug="unborn")
    asked = standing(study, study.raters.get(user=people.owner)).current
    own = join_study(study, None, invitation).key
    return {"rate": study.key, "rate_link": token, "rate_own": own, "rate_question": asked.token, "unborn": draft.key}


def _phase(challenge: Challenge, **values: object) -> Phase:
    phase = PhaseFactory(challenge=challenge, **values)
    give_reference(phase)
    return phase


def _received(phase: Phase, team: Team, method: str, user: User | None, seed: int, items: dict | None = None) -> Submission:
    from submissions.formats.wireframe.wireframe_files import unpack

    truth = unpack(stored_files.store().read(phase.references.get().key))
    return received(phase, team, archive(items or perturbed(truth, 0.2, seed)), method_name=method, user=user)


def _entries(phases: dict[str, Phase], people: People, insiders: Team) -> dict[str, Submission]:
    phase, owner = phases["p"], people.owner
    found = {
        name: _received(phase, people.team, f"method-{name}", owner, seed)
        for seed, name in enumerate(("e", "hidden", "withdrawn", "disqualified"))
    }
    for seed, name in enumerate(("e2", "e3"), start=9):
        found[name] = _received(phase, people.other_team, f"method-{name}", people.other, seed)
    found["masked_e"] = _received(phases["masked"], people.team, "method-masked", owner, 5)
    found["open_e"] = _received(phases["open"], people.team, "method-open", owner, 6)
    found["private_e"] = _received(phases["pp"], insiders, "method-private", None, 8)
    house = next(iter(perturbed({"x": _a_house()}, 0.1).values()))
    found["rejected"] = _received(phase, people.team, "method-rejected", owner, 0, items={"no_such_item": house})
    return found


def _a_house():
    from evaluation.synthetic.houses import house

    return house("gable", 1)


def _flag(entries: dict[str, Submission], people: People) -> None:
    for entry in entries.values():
        entry.refresh_from_db()
    entries["hidden"].hide(people.organizer, "looked at again")
    entries["disqualified"].disqualify(people.organizer, "against the rules")
    entries["withdrawn"].withdraw()


def _mesh_entries(people: People) -> dict[str, Submission]:
    """Scored meshes: over a hidden reference, the same but hidden, and over one that everybody may see."""
    challenge = ChallengeFactory(family="mesh")
    challenge.organizers.add(people.organizer)
    team = TeamFactory(challenge=challenge, name="Meshers")
    join(people.owner, team, leader=True)
    join(people.mate, team)
    found = {}
    for access, names in (("hidden", ("mesh_e", "mesh_hidden")), ("public", ("mesh_open",))):
        phase = PhaseFactory(challenge=challenge, reference_access=access)
        give_reference(phase, boxes(), MESH_METRICS)
        for name in names:
            found[name] = scores.with_files(
                scores.entry(phase, team, {"chamfer_l1": [0.1, 0.2]}, method_name=f"method-{name}"), boxes(1.25)
            )
    found["mesh_hidden"].hide(people.organizer, "looked at again")
    return found


def _render_entries(people: People) -> dict[str, Submission]:
    """Scored renders with their pictures asked for: over a hidden reference, the same but hidden, and over one that everybody may see."""
    challenge = ChallengeFactory(family="render")
    challenge.organizers.add(people.organizer)
    team = TeamFactory(challenge=challenge, name="Painters")
    join(people.owner, team, leader=True)
    join(people.mate, team)
    found = {}
    for access, names in (("hidden", ("render_e", "render_hidden")), ("public", ("render_open",))):
        phase = PhaseFactory(challenge=challenge, reference_access=access)
        give_reference(phase, pictures.views(2, clean=False), ({"slug": "psnr", "key": "psnr", "is_primary": True},))
        for name in names:
            it = scores.with_files(scores.entry(phase, team, {"psnr": [30.0, 20.0]}, method_name=f"method-{name}"), pictures.renders(2))
            PictureRun.request(current_evaluation(it), "garden", list(pictures.views(2)))
            found[name] = it
    found["render_hidden"].hide(people.organizer, "looked at again")
    return found


def _acceptance_test(phase: Phase) -> int:
    """An acceptance test of a column that the phase might have, with a picture of its reference."""
    acceptance_test = SuiteRun.objects.create(
        reference=Reference.objects.filter(phase=phase).latest("version"),
        key="puzzlesim_pieces",
        params={"features": "dictionary"},
        fingerprint="0" * 64,
        version=ACCEPTANCE.version,
        state=SuiteRun.State.DONE,
        judged_at=timezone.now(),
    )
    scene = acceptance_test.scene_names[0]
    acceptance_test.results, acceptance_test.pictures = (
        [SceneVerdict(scene, False, 1, means=(("clean", 0.5),), untried=Untried.CLEAN_VIEWS).to_dict()],
        {scene: [["clean", 2, 2]]},
    )
    acceptance_test.save(update_fields=["results", "pictures"])
    stored_files.store().save_bytes(acceptance_test.picture_key(scene, "clean"), b"a picture of the reference")
    return acceptance_test.pk


def _judge(phases: dict[str, Phase]) -> None:
    """A study that all may see in each of three phases, and one for organizers only."""
    for name, slug in (("p", "open"), ("p", "inner"), ("masked", "open"), ("pp", "open")):
        about = {"title": f"study-{slug}", "question": "Which is closer?", "is_public": slug == "open"}
        Study.import_votes(phases[name], None, simulated_votes(2, 1, 3), slug=slug, **about)
    while analyse_due():
        pass


def _plan_judge(phase: Phase, entries: dict[str, Submission]) -> int:
    """A run of a judge model on the inner study, two of whose labels stand for entries."""
    study = phase.studies.get(slug="inner")
    for label, name in (("m0", "e"), ("m1", "e2")):
        study.entries.filter(label=label).update(submission=entries[name])
    return planning.make(study, None, "seer", Wish("wireframe", 4)).pk


def _file(challenge: Challenge, phase: Phase, name: str) -> ChallengeFile:
    stored_files.store().save_bytes(f"files/{name}", name.encode())
    digest = hashlib.sha256(name.encode()).hexdigest()
    return ChallengeFile.objects.create(challenge=challenge, phase=phase, name=name, key=f"files/{name}", size=len(name), sha256=digest)


def _programs(challenge: Challenge, private: Challenge) -> int:
    """A published metric of the organizer's own in two challenges; the first one's number."""
    with tempfile.TemporaryDirectory() as folder:
        first, _ = (programs.ready(one, Path(folder) / one.slug).pk for one in (challenge, private))
    return first


def _contest(study: Study) -> int:
    """A challenge of metrics on a study; its number."""
    return MetricChallenge.objects.create(study=study, title="Metrics", closes_at=timezone.now() + timedelta(days=9)).pk


def _names(phases, private, draft, entries, people, insiders) -> dict[str, object]:
    challenge = phases["p"].challenge
    snapshots = {
        "digest": (phases["p"], Snapshot.Audience.PUBLIC),
        "inner": (phases["p"], Snapshot.Audience.ORGANIZERS),
        "masked_digest": (phases["masked"], Snapshot.Audience.PUBLIC),
    }
    return {
        **{name: phase.slug for name, phase in phases.items()},
        **{name: entry.pk for name, entry in entries.items()},
        **{name: Snapshot.current(phase, audience).digest for name, (phase, audience) in snapshots.items()},
        "c": challenge.slug,
        "private": private.slug,
        "draft": draft.slug,
        "key": KEY,
        "file": _file(challenge, phases["p"], "points.zip").pk,
        "coming_file": _file(challenge, phases["coming"], "later.zip").pk,
        "private_file": _file(private, phases["pp"], "private.zip").pk,
        "join": people.team.make_link(),
        "private_join": insiders.make_link(),
        "invite": people.team.invite("linus@example.org", people.owner).pk,
        "mate": people.mate.pk,
        "merge": TeamMerge.objects.create(asking=people.other_team, asked=people.team).pk,
        "other_team_name": people.other_team.name,
        "team": people.team.pk,
        "insiders": insiders.pk,
        "token": ApiToken.make(people.owner, "laptop")[0].pk,
        "item": phases["p"].manifest.item_ids[0],
        "mesh": "box_1",
        "renders": entries["render_e"].phase.challenge.slug,
        "rp": entries["render_e"].phase.slug,
        "view": "garden/view_1",
        "study": phases["p"].studies.get(slug="inner").pk,
        "judge": _plan_judge(phases["p"], entries),
        "program": _programs(challenge, private),
        "contest": _contest(phases["p"].studies.get(slug="inner")),
        "private_contest": _contest(phases["pp"].studies.first()),
        "participation": challenge.participations.get(user=people.mate).pk,
        "news": challenge.announcements.create(title="The inputs of the final phase are there, in metres").pk,
    }
