"""Small pictures of entries: what they draw, when they are made, and who meets them."""

from __future__ import annotations

import io

import numpy as np
import pytest
from django.utils import timezone
from PIL import Image

from evaluation.models import EvaluationBatch, PictureRun
from evaluation.work.worker import drain
from leaderboard.kinds import KINDS
from leaderboard.tasks import build_due_boards
from leaderboard.viewer import thumbnails
from leaderboard.views.home import cards
from submissions.formats.arrays import Mesh, Wireframe
from submissions.models import Phase, Submission
from submissions.storage import stored_files
from tests.support import pictures
from tests.support.factories import PhaseFactory, gables, give_reference
from tests.support.leaderboard import scores

BOX = np.array([[x, y, z] for x in (0.0, 2.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
SIDES = np.array([[0, 1], [0, 2], [0, 4], [1, 3], [1, 5], [2, 3], [2, 6], [3, 7], [4, 5], [4, 6], [5, 7], [6, 7]])
FACES = np.array(
    [
        [0, 1, 3],
        [0, 3, 2],
        [4, 6, 7],
        [4, 7, 5],
        [0, 4, 5],
        [0, 5, 1],
        [2, 3, 7],
        [2, 7, 6],
        [0, 2, 6],
        [0, 6, 4],
        [1, 5, 7],
        [1, 7, 3],
    ]
)


def pixels(image: Image.Image) -> np.ndarray:
    assert image.size == (thumbnails.WIDTH, thumbnails.HEIGHT)
    return np.asarray(image.convert("RGBA"))


def halved(faces: np.ndarray, vertices: np.ndarray) -> Mesh:
    """The same surface with twice the faces: each cut from a corner to the middle of the side across."""
    middles = (vertices[faces[:, 1]] + vertices[faces[:, 2]]) / 2
    at = len(vertices) + np.arange(len(faces))
    cut = np.concatenate([np.column_stack([faces[:, 0], faces[:, 1], at]), np.column_stack([faces[:, 0], at, faces[:, 2]])])
    return Mesh(np.concatenate([vertices, middles]), cut)


def test_a_wireframe_is_drawn_the_same_wherever_it_lies_and_however_large_it_is():
    drawn = pixels(thumbnails.wireframe(Wireframe(BOX, SIDES)))
    assert 300 < (drawn[..., 3] > 0).sum() < 5000
    assert np.array_equal(drawn, pixels(thumbnails.wireframe(Wireframe(BOX * 1024 + 4096, SIDES))))
    assert not np.array_equal(drawn, pixels(thumbnails.wireframe(Wireframe(BOX, SIDES[:6]))))


def test_a_mesh_shows_its_surface_and_not_how_it_is_cut():
    drawn, cut = pixels(thumbnails.mesh(Mesh(BOX, FACES))), pixels(thumbnails.mesh(halved(FACES, BOX)))
    assert (drawn[..., 3] > 0).mean() > 0.3
    assert ((drawn[..., 3] > 0) == (cut[..., 3] > 0)).mean() > 0.97
    both = (drawn[..., 3] > 0) & (cut[..., 3] > 0)
    assert np.abs(drawn[both, :3].astype(int) - cut[both, :3]).mean() < 6
    assert len(np.unique(drawn[drawn[..., 3] > 0][:, :3], axis=0)) == 3  # of a box three sides are seen, each turned another way


@pytest.mark.parametrize("kind", ["wireframe", "mesh"])
def test_of_nothing_nothing_is_drawn(kind):
    empty = {"wireframe": Wireframe, "mesh": Mesh}[kind](np.zeros((0, 3)), np.zeros((0, 2 if kind == "wireframe" else 3), dtype=np.int64))
    assert not pixels(KINDS[kind].thumb(empty))[..., 3].any()


@pytest.fixture
def drawn(phase, people):
    entry = scores.entry(phase, people.team, {"corner_f1": [0.5] * 4}, method_name="ridge-net")
    return scores.with_files(entry, gables())


@pytest.mark.django_db
def test_they_are_there_once_the_board_is_ranked(phase, drawn):
    def kept() -> set[str]:
        return {key for key, _ in stored_files.store().keys("geometry") if key.startswith(f"geometry/{drawn.pk}/")}

    before = kept()  # of an entry of another test, whose number is given again
    build_due_boards()
    (key,) = kept() - before
    data = stored_files.store().read(key)
    assert Image.open(io.BytesIO(data)).size == (thumbnails.WIDTH, thumbnails.HEIGHT) and len(data) < 6000
    item = thumbnails.item_of(EvaluationBatch.current(phase))
    drawn.phase = phase
    assert thumbnails.picture(drawn, item) == data != thumbnails.picture(drawn, "nothing of that name")


@pytest.mark.django_db
def test_an_entry_without_the_first_item_shows_the_first_that_it_has(phase, drawn, client, people):
    batch = EvaluationBatch.current(phase)
    first, second, *_ = batch.reference.item_ids
    Submission.objects.filter(pk=drawn.pk).update(missing_items=[first])
    drawn.refresh_from_db()
    client.force_login(people.owner)
    assert (
        client.get(f"/entries/{drawn.pk}/thumbnail.webp").content == thumbnails.picture(drawn, second) != thumbnails.picture(drawn, first)
    )
    assert thumbnails.item_of(batch, batch.reference.item_ids) == first, "of an entry that has no item"
    build_due_boards()
    Phase.objects.filter(pk=phase.pk).update(reference_access="public")
    (card,) = cards([phase.challenge], timezone.now())
    assert card.item == second, "the large picture of a challenge shows what its first entry has, too"


@pytest.mark.django_db
def test_a_board_shows_them_to_who_may_see_the_items(phase, drawn, client, people):
    build_due_boards()
    board, picture = f"/challenges/{phase.challenge.slug}/{phase.slug}/", f"/entries/{drawn.pk}/thumbnail.webp"
    assert "thumbnail.webp" not in client.get(board).content.decode() and client.get(picture).status_code == 403
    client.force_login(people.owner)
    assert client.get(picture).status_code == 200  # one's own, without anything of the reference
    Phase.objects.filter(pk=phase.pk).update(reference_access="public")
    client.logout()
    assert f"{picture}?v=" in client.get(board).content.decode() and f"{picture}?v=" in client.get("/challenges/").content.decode()
    response = client.get(picture)
    assert response["Content-Type"] == "image/webp" and "max-age" in response["Cache-Control"]
    drawn.hide(people.organizer, "a test")
    assert client.get(picture).status_code == 404 and picture not in client.get(board).content.decode()


@pytest.mark.django_db
def test_the_front_page_shows_a_large_one_of_the_first_entry_where_everybody_may_see_it(phase, drawn, client, people):
    build_due_boards()
    large = f"/entries/{drawn.pk}/posters/{thumbnails.item_of(EvaluationBatch.current(phase))}.webp"
    assert "webp" not in client.get("/").content.decode() and client.get(large).status_code == 403
    Phase.objects.filter(pk=phase.pk).update(reference_access="public")
    assert f'src="{large}?v=' in client.get("/").content.decode()
    image = Image.open(io.BytesIO(client.get(large).content))
    assert image.size == (thumbnails.LARGE * thumbnails.WIDTH, thumbnails.LARGE * thumbnails.HEIGHT)
    drawn.hide(people.organizer, "a test")
    assert "webp" not in client.get("/").content.decode()


@pytest.mark.django_db
def test_pictures_of_renders_are_asked_for_when_they_are_ranked_and_once(people):
    phase = PhaseFactory(challenge__family="render")
    give_reference(phase, pictures.views(2, clean=False), ({"slug": "psnr", "key": "psnr", "is_primary": True},))
    submission = scores.with_files(scores.entry(phase, people.team, {"psnr": [30.0, 20.0]}), pictures.renders(2))
    assert PictureRun.objects.count() == 0
    build_due_boards()
    scenes = {run.scene for run in PictureRun.objects.filter(evaluation__submission=submission)}
    batch = EvaluationBatch.current(phase)
    assert scenes == set(batch.reference.groups)
    thumbnails.prepare(phase)
    assert PictureRun.objects.count() == len(scenes)
    drain()
    assert {run.state for run in PictureRun.objects.all()} == {PictureRun.State.DONE}
