"""Rows for tests, as the service itself would have made them."""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Mapping
from datetime import timedelta
from functools import lru_cache

import factory
import numpy as np
from django.contrib.auth.hashers import make_password
from django.db import transaction
from django.utils import timezone

from evaluation.models import EvaluationBatch, PhaseMetric, Reference
from evaluation.models.definition import told_apart
from submissions import worker_notify
from submissions.formats.arrays import Mesh
from submissions.formats.wireframe.wireframe_files import Wireframe, write_obj
from submissions.models import Admission, AuditEntry, Challenge, Membership, Participation, Phase, Submission, Team, User
from submissions.storage import stored_files

PASSWORD = "a long enough password"  # of everybody here


@lru_cache
def _hashed(password: str) -> str:
    """Hashing is slow on purpose; once is enough for all these people."""
    return make_password(password)


class UserFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = User
        skip_postgeneration_save = True

    username = factory.Sequence(lambda n: f"person{n}")
    email = factory.LazyAttribute(lambda o: f"{o.username}@example.org")
    password = factory.LazyFunction(lambda: _hashed(PASSWORD))


def confirmed(username: str, address: str) -> User:
    """An account that has confirmed that address."""
    user = UserFactory(username=username, email=address)
    user.emailaddress_set.create(email=address, verified=True, primary=True)
    return user


class ChallengeFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Challenge
        skip_postgeneration_save = True

    slug = factory.Sequence(lambda n: f"roofs-{n}")
    title = factory.LazyAttribute(lambda o: o.slug.replace("-", " ").title())
    rules = "Be fair."
    visibility = Challenge.Visibility.PUBLIC


class PhaseFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Phase

    challenge = factory.SubFactory(ChallengeFactory)
    slug = factory.Sequence(lambda n: f"phase-{n}")
    title = factory.LazyAttribute(lambda o: o.slug.replace("-", " ").title())
    opens_at = factory.LazyFunction(lambda: timezone.now() - timedelta(days=1))
    closes_at = factory.LazyFunction(lambda: timezone.now() + timedelta(days=30))


class TeamFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Team

    challenge = factory.SubFactory(ChallengeFactory)
    name = factory.Sequence(lambda n: f"Team {n}")


def join(user: User, team: Team, leader: bool = False) -> None:
    """`user` takes part in the team's challenge, rules accepted, as a member of `team`."""
    challenge = team.challenge
    Participation.objects.create(
        challenge=challenge,
        user=user,
        admission=Admission.ADMITTED,
        rules_version=challenge.rules_version,
        rules_accepted_at=timezone.now(),
    )
    Membership.objects.create(team=team, user=user, challenge=challenge, is_leader=leader)


METRICS = (
    {"slug": "corner_f1", "key": "corner_f1", "is_primary": True},
    {"slug": "edge_f1", "key": "edge_f1"},
    {"slug": "hss", "key": "hss"},
)


def gable(width: float = 8.0, length: float = 12.0, eaves: float = 3.0, ridge: float = 5.0) -> Wireframe:
    """A house with a gable roof, metres, one corner at the origin: 10 vertices, 17 edges."""
    w, d = width, length
    floor = [(0, 0, 0), (w, 0, 0), (w, d, 0), (0, d, 0)]
    top = [(x, y, eaves) for x, y, _ in floor]
    roof = [(w / 2, 0, ridge), (w / 2, d, ridge)]
    around = [(0, 1), (1, 2), (2, 3), (3, 0)]
    edges = [*around, *((a + 4, b + 4) for a, b in around), *((k, k + 4) for k in range(4)), (4, 8), (5, 8), (6, 9), (7, 9), (8, 9)]
    return Wireframe(vertices=np.array([*floor, *top, *roof], dtype=np.float64), edges=np.array(edges, dtype=np.int64), edge_score=None)


def gables(n: int = 4) -> dict[str, Wireframe]:
    """`n` houses of different sizes, ids house_01, house_02, ..."""
    return {f"house_{k + 1:02d}": gable(8.0 + k, 12.0 + k / 2, 3.0 + k / 4, 5.0 + k / 2) for k in range(n)}


MESH_METRICS = ({"slug": "chamfer_l1", "key": "chamfer_l1", "is_primary": True},)


def boxes(height: float = 1.0, n: int = 2) -> dict[str, Mesh]:
    """`n` closed boxes, box_1 and so on: 4 k × 2 m, `height` high, a corner at the origin; 8 vertices, 12 faces, outwards."""
    corners = np.array([(x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 1)], dtype=np.float64)
    sides = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    faces = np.array([half for a, b, c, d in sides for half in ((a, b, c), (a, c, d))], dtype=np.int64)
    return {f"box_{k}": Mesh(corners * (4.0 * k, 2.0, height), faces.copy()) for k in range(1, n + 1)}


def give_reference(phase: Phase, items: Mapping[str, Wireframe | Mesh] | None = None, metrics=METRICS) -> EvaluationBatch:
    """A reference (by default four gable houses) and metrics, in force at once.

    Thousands of tests begin so. For a new phase this stores the rows that `EvaluationBatch.start` stores, without its questions about
    entries and earlier batches, which take twice as long; `test_models.py` compares the two.
    """
    PhaseMetric.objects.bulk_create(PhaseMetric(phase=phase, position=position, **metric) for position, metric in enumerate(metrics))
    reference = Reference.add(phase, items if items is not None else gables())
    if reference.version > 1:
        batch = EvaluationBatch.start(phase, reference=reference)
    else:
        columns = told_apart([metric.column() for metric in PhaseMetric.objects.filter(phase=phase) if not metric.is_retired])
        with transaction.atomic():
            batch = EvaluationBatch.objects.create(
                phase=phase,
                reference=reference,
                metrics=[column.to_dict() for column in columns],
                unit_scale=phase.unit_scale,
                state=EvaluationBatch.State.CURRENT,
                switched_at=timezone.now(),
            )
            AuditEntry.record(phase.challenge, None, "phase.reevaluate", phase, reason="", reference=1, batch=batch.pk)
            Phase.objects.filter(pk=phase.pk).update(manifest_data=reference.manifest(columns).to_dict())
            phase.touch_board()
            worker_notify.after_commit("work", "gpu", "boards")
    phase.refresh_from_db()
    return batch


def archive(items: Mapping[str, Wireframe]) -> bytes:
    """A zip with one OBJ per item, as a team would upload it: the same bytes for the same items, whatever the clock says."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as package:
        for name, item in items.items():
            package.writestr(zipfile.ZipInfo(f"{name}.obj", (1980, 1, 1, 0, 0, 0)), write_obj(item), zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def perturbed(items: Mapping[str, Wireframe], scale: float, seed: int = 0) -> dict[str, Wireframe]:
    """Copies whose vertices are moved by normal noise of `scale` metres."""
    noise = np.random.default_rng(seed)
    return {
        name: Wireframe(vertices=item.vertices + noise.normal(scale=scale, size=item.vertices.shape), edges=item.edges, edge_score=None)
        for name, item in items.items()
    }


def received(phase: Phase, team: Team, data: bytes, *, method_name: str = "method", user: User | None = None, **values) -> Submission:
    """An entry whose bytes have arrived and wait for a worker."""
    digest = hashlib.sha256(data).hexdigest()
    entry = Submission.reserve(phase, team, user, method_name=method_name, file_name="entry.zip", size=len(data), sha256=digest, **values)
    key = f"uploads/{entry.pk}/entry.zip"
    stored_files.store().save_bytes(key, data)
    entry.receive(key, len(data), digest)
    return entry
