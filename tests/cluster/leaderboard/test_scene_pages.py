"""The pages of a scene: what is shown to whom, the worst view first, and pictures that a worker makes once."""

from __future__ import annotations

import io
import re

import pytest
from django.test import Client
from django.urls import reverse
from PIL import Image

from evaluation.metrics.render import osim
from evaluation.models import Evaluation, PictureRun, Score
from evaluation.work import view_images
from evaluation.work.sandbox import JobFailed
from evaluation.work.worker import drain
from submissions.entry_states import Reason
from submissions.models import Phase, Submission
from submissions.storage import stored_files
from tests.support import pictures
from tests.support.factories import ChallengeFactory, PhaseFactory, TeamFactory, UserFactory, give_reference, join
from tests.support.leaderboard.scores import entry, with_files

pytestmark = pytest.mark.django_db(transaction=True)

METRICS = ({"slug": "psnr", "key": "psnr", "is_primary": True}, {"slug": "ssim", "key": "ssim"})
PSNR, SSIM = [31.0, 12.0, 20.0], [0.5, 0.9, 0.1]


@pytest.fixture
def it() -> Submission:
    phase = PhaseFactory(challenge=ChallengeFactory(family="render"), reference_access="public")
    give_reference(phase, pictures.views(masked=True), METRICS)
    team = TeamFactory(challenge=phase.challenge)
    join(UserFactory(username="painter"), team, leader=True)
    return with_files(entry(phase, team, {"psnr": PSNR, "ssim": SSIM}, method_name="splat-net"), pictures.renders())


def scene(it: Submission, **query) -> str:
    return reverse("entry_scene", args=[it.pk, "garden"]) + ("?" + "&".join(f"{k}={v}" for k, v in query.items()) if query else "")


def picture(it: Submission, name: str = "render", item: str = "garden/view_2") -> str:
    return reverse("entry_picture", args=[it.pk, item, name])


def text(response) -> str:
    assert response.status_code == 200, response.status_code
    return response.content.decode()


def order(page: str) -> list[str]:
    return re.findall(r'<h2 id="view-\d+"><a[^>]*>(\w+)</a>', page)


def made(it: Submission, client: Client) -> PictureRun:
    client.get(scene(it))
    drain()
    return PictureRun.objects.get()


def hide(it: Submission) -> None:
    Phase.objects.filter(pk=it.phase_id).update(reference_access="hidden")


def member(it: Submission) -> Client:
    client = Client()
    client.force_login(it.team.members.get())
    return client


class TestPage:
    def test_the_first_look_asks_for_the_pictures_and_says_how_far_they_are(self, client, it):
        assert 'value="0"' in text(client.get(scene(it)))
        assert PictureRun.objects.get().items == ["garden/view_2", "garden/view_3", "garden/view_1"]
        client.get(scene(it))
        assert PictureRun.objects.count() == 1

    def test_the_worst_view_stands_first_by_the_metric_that_is_asked_for(self, client, it):
        assert order(text(client.get(scene(it)))) == ["view_2", "view_3", "view_1"]
        assert order(text(client.get(scene(it, sort="ssim")))) == ["view_3", "view_1", "view_2"]
        assert order(text(client.get(scene(it, sort="item")))) == ["view_1", "view_2", "view_3"]

    def test_when_they_are_made_each_has_its_size_and_waits_to_be_seen(self, client, it):
        run = made(it, client)
        assert (run.state, run.n_made) == ("done", 3)
        page = text(client.get(scene(it)))
        assert "being made" not in page
        images = re.findall(r'<img src="([^"]+)" width="(\d+)" height="(\d+)"[^>]*loading="lazy"', page)
        assert len(images) == page.count("<img") and {(w, h) for _, w, h in images} == {("96", "64")}
        assert {address.rsplit("/", 1)[1] for address, _, _ in images} == {
            "render.webp",
            "reference.webp",
            "error.small.webp",
            "reference.small.webp",
            "mask.small.webp",
        }
        for address, _, _ in images:
            answer = client.get(address)
            assert (answer.status_code, answer["Content-Type"]) == (200, "image/webp")
            assert Image.open(io.BytesIO(answer.content)).size == (96, 64)

    def test_the_progress_asks_for_the_whole_page_when_all_is_there(self, client, it):
        client.get(scene(it))
        address = reverse("scene_progress", args=[it.pk, "garden"])
        assert "HX-Refresh" not in client.get(address)
        drain()
        assert client.get(address)["HX-Refresh"] == "true"

    def test_a_missing_view_shows_its_reference_and_says_so(self, client, it):
        renders = pictures.renders()
        del renders["garden/view_2"]
        with_files(it, renders)
        Submission.objects.filter(pk=it.pk).update(missing_items=["garden/view_2"])
        run = made(it, client)
        assert set(run.made["garden/view_2"]) == {"reference", "mask"}
        page = text(client.get(scene(it)))
        assert page.count("data-pair") == 2

    def test_the_page_of_a_view_has_its_slider_and_its_values(self, client, it):
        made(it, client)
        page = text(client.get(reverse("entry_item", args=[it.pk, "garden/view_2"])))
        assert page.count("data-pair") == 1 and "PSNR" in page and "12" in page and "view 1 of 3" in page

    def test_the_entry_leads_to_its_scenes(self, client, it):
        assert f'href="{scene(it)}"' in text(client.get(reverse("entry", args=[it.pk])))

    def test_two_entries_stand_side_by_side_and_move_together(self, client, it):
        other = with_files(entry(it.phase, it.team, {"psnr": SSIM, "ssim": SSIM}, method_name="other-net"), pictures.renders(noise=0.2))
        address = f"{reverse('compare', args=[it.phase.challenge.slug, it.phase.slug])}?a={it.pk}&b={other.pk}&item=garden/view_3"
        found = client.get(address)
        assert {run.evaluation.submission.method_name for run in found.context["making"]} == {"splat-net", "other-net"}
        assert text(found).count("<progress") == 2
        drain()
        page = text(client.get(address))
        assert page.count('data-pair="compare"') == 2
        assert picture(it, item="garden/view_3") in page and picture(other, item="garden/view_3") in page
        assert page.count('data-name="other"') == 2  # each can be laid over the other
        hide(it)
        page = text(client.get(address))
        assert "data-pair" not in page and ".webp" not in page

    def test_no_scene_and_no_view_of_that_name(self, client, it):
        assert client.get(reverse("entry_scene", args=[it.pk, "kitchen"])).status_code == 404
        assert client.get(picture(it, item="garden/view_9")).status_code == 404


class TestHidden:
    def test_a_stranger_gets_no_picture_at_all_and_no_row_is_made(self, client, it):
        hide(it)
        page = text(client.get(scene(it)))
        assert ".webp" not in page and not PictureRun.objects.exists()

    def test_its_team_sees_its_own_renders_and_nothing_that_comes_from_the_reference(self, client, it):
        run = made(it, client)
        hide(it)
        own = member(it)
        page = text(own.get(scene(it)))
        assert page.count("render.webp") == 3 and not re.search(r"(reference|error|mask|low|map)[^\"/]*\.webp", page)
        for name in run.made["garden/view_2"]:
            for end in ("", ".small"):
                assert own.get(picture(it, name + end)).status_code == (200 if name == "render" else 403)
                assert client.get(picture(it, name + end)).status_code == 403

    def test_objects_are_hidden_with_their_values(self, client, it):
        give_objects(it)
        assert 'class="boxes"' in text(made(it, client) and client.get(scene(it)))
        hide(it)
        page = text(member(it).get(scene(it)))
        assert "boxes" not in page and "chair" not in page and "0.123" not in page

    def test_who_may_no_longer_see_them_is_refused_whatever_they_hold(self, client, it):
        made(it, client)
        etag = client.get(picture(it, "reference"))["ETag"]
        assert client.get(picture(it, "reference"), headers={"if-none-match": etag}).status_code == 304
        hide(it)
        assert client.get(picture(it, "reference"), headers={"if-none-match": etag}).status_code == 403


def give_objects(it: Submission) -> None:
    """A column of objectness, as its worker would have left it: two objects in each view, one of them below the scene."""
    chair = osim.SeenObject("chair", 9.6, 16.0, 48.0, 48.0, 0.9, 0.123, 0.5, 0.75)
    table = osim.SeenObject("table", 48.0, 16.0, 96.0, 64.0, 0.9, 0.9, 0.2, 0.25)
    from evaluation.metrics.result import SampleScores
    from tests.support.leaderboard.scores import summarise

    evaluation = Evaluation.objects.get(submission=it)
    batch = evaluation.batch
    column = {"slug": "osim", "key": "osim", "params": {"weights": "yolox-x"}, "fingerprint": "f" * 64, "title": "OSIM"}
    labels = {"weight": 1.0, "is_primary": False, "in_ranking": True, "position": 9}
    batch.metrics = [*batch.metrics, column | labels]
    batch.save(update_fields=["metrics"])
    ids = tuple(batch.reference.item_ids)
    parts = osim.as_parts([chair, table])
    samples = SampleScores("osim", ids, (0.5,) * len(ids), ("ok",) * len(ids), (parts,) * len(ids), ((),) * len(ids))
    from evaluation.metrics import registry

    summary = summarise(registry.get("osim"), samples.values, samples.statuses, samples.parts, batch.reference.groups)
    rows = {score.slug: score for score in evaluation.scores.all()}
    evaluation.batch.metrics = [column | labels]
    Score.write(evaluation.pk, evaluation.batch.columns, {"osim": (samples, summary)})
    assert set(rows) == {"psnr", "ssim"}


class TestObjects:
    def test_each_has_its_box_its_values_and_its_sign(self, client, it):
        give_objects(it)
        run = made(it, client)
        assert "low.osim" in run.made["garden/view_1"]
        page = text(client.get(scene(it)))
        assert '<i class="low" style="left:10.0%;top:25.0%;width:40.0%;height:50.0%"><b>1▼</b></i>' in page
        assert '<i style="left:50.0%;top:25.0%;width:50.0%;height:75.0%"><b>2</b></i>' in page
        assert "1 chair" in page and "0.123" in page and "0.750" in page
        assert "object_00" not in text(client.get(reverse("entry_item", args=[it.pk, "garden/view_1"])))


class TestRuns:
    def test_pictures_are_stored_under_what_they_depend_on(self, client, it):
        run = made(it, client)
        key = f"pictures/{it.pk}/{run.digest}/0-render.webp"
        assert stored_files.store().read(key) == client.get(picture(it)).content
        with_files(it, pictures.renders(noise=0.3))
        again = made(it, client)
        assert again.digest != run.digest and stored_files.store().read(run.key("garden/view_2", "render"))
        assert client.get(picture(it)).content != stored_files.store().read(key)

    def test_what_a_slice_made_stays_and_the_next_goes_on(self, client, it, monkeypatch):
        monkeypatch.setattr(view_images, "MAX_VIEWS", 2)
        client.get(scene(it))
        assert view_images.make_once("worker")
        run = PictureRun.objects.get()
        assert (run.n_made, run.state, run.left) == (2, "waiting", ["garden/view_1"])
        page = text(client.get(scene(it)))
        assert "2 of 3 views" in page and page.count("data-pair") == 2
        assert view_images.make_once("worker") and not view_images.make_once("worker")
        assert PictureRun.objects.get().state == "done"

    def test_a_late_slice_writes_nothing(self, client, it):
        client.get(scene(it))
        run = PictureRun.objects.waiting().claim("slow")
        PictureRun.objects.update(lease_token=None, lease_until=None)
        view_images.make(run)
        assert PictureRun.objects.get().n_made == 0

    def test_what_fails_each_time_is_given_up_with_a_sentence(self, client, it, monkeypatch, settings):
        def fails(*_):
            raise JobFailed("memory", "too much")

        monkeypatch.setattr(view_images.sandbox, "run", fails)
        client.get(scene(it))
        assert view_images.make_once("worker")
        run = PictureRun.objects.get()
        assert run.state == "failed" and run.reason == Reason.MEMORY
        assert client.get(scene(it)).status_code == 200
        assert run.restart() and PictureRun.objects.get().state == "waiting"

    def test_uploads_and_scoring_come_first(self, client, it):
        from evaluation.work import worker

        client.get(scene(it))
        Submission.objects.filter(pk=it.pk).update(status="received")
        worker.work_once("cpu")
        assert PictureRun.objects.get().n_made == 0

    def test_a_picture_that_is_gone_from_the_storage_is_made_again(self, client, it):
        run = made(it, client)
        stored_files.store().delete(run.key("garden/view_2", "render"))
        assert client.get(picture(it)).status_code == 404
        drain()
        assert client.get(picture(it)).status_code == 200
