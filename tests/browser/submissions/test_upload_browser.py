"""Uploading in a real browser: parts to this service, parts straight to S3, a connection that breaks."""

from __future__ import annotations

import copy
import hashlib
import os

import pytest
from django.conf import settings as configured
from django.test import Client
from playwright.sync_api import expect

from submissions.models import Status
from submissions.models.quota import quota_of
from submissions.storage import stored_files

MIB = 1024 * 1024
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def form(live_server, page, phase, people):
    """The upload page of somebody who is logged in, ready to be sent."""
    client = Client()
    client.force_login(people.owner)
    cookie = {"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}
    page.context.add_cookies([cookie])
    page.problems = []
    page.on("console", lambda message: page.problems.append(message.text) if "Content Security Policy" in message.text else None)
    page.on("pageerror", lambda error: page.problems.append(str(error)))

    def fill(path) -> None:
        page.goto(f"{live_server.url}/challenges/{phase.challenge.slug}/{phase.slug}/upload/")
        page.locator(".upload-state").wait_for(state="attached")  # upload.js comes after the page; before it this is a plain form
        page.set_input_files("input[type=file]", path)
        page.get_by_label("Name of the method").fill("By browser")

    page.fill_upload = fill
    return page


@pytest.fixture
def big(tmp_path):
    path = tmp_path / "entry.zip"
    path.write_bytes(os.urandom(11 * MIB))
    return path


def received(phase, path):
    submission = phase.submissions.get()
    assert submission.status == Status.RECEIVED
    assert submission.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    return submission


def test_a_file_goes_in_parts_to_this_service(local_files, form, phase, big, settings):
    settings.UPLOAD_PART_BYTES = 4 * MIB
    sent = []
    form.on("request", lambda request: sent.append(request.url) if request.method == "PUT" else None)
    form.fill_upload(big)
    form.get_by_role("button", name="Upload").click()
    form.wait_for_url("**/entries/*/")
    assert [url.rsplit("/", 1)[-1] for url in sent] == ["1", "2", "3"]
    assert stored_files.store().read(received(phase, big).file_key) == big.read_bytes()
    assert form.problems == []


def test_after_a_broken_connection_only_the_rest_is_sent(local_files, form, phase, big, settings):
    settings.UPLOAD_PART_BYTES = 4 * MIB
    form.add_init_script("setTimeout = new Proxy(setTimeout, {apply: (f, t, [act]) => f.call(t, act, 1)})")  # pauses pass at once
    form.route("**/parts/2", lambda route: route.abort())
    form.fill_upload(big)
    form.get_by_role("button", name="Upload").click()
    expect(form.get_by_role("alert")).to_contain_text("The connection was lost")
    form.unroute("**/parts/2")
    sent = []
    form.on("request", lambda request: sent.append(request.url.rsplit("/", 1)[-1]) if request.method == "PUT" else None)
    form.get_by_role("button", name="Go on").click()
    form.wait_for_url("**/entries/*/")
    assert sent == ["2", "3"]
    received(phase, big)


def test_the_same_file_on_a_page_loaded_anew_goes_on_with_its_reservation(local_files, form, phase, big, settings):
    settings.UPLOAD_PART_BYTES = 4 * MIB
    form.route("**/parts/2", lambda route: route.abort())
    form.fill_upload(big)
    form.get_by_role("button", name="Upload").click()
    expect(form.get_by_role("status").filter(has_text="Trying again")).to_be_visible()
    form.on("dialog", lambda dialog: dialog.accept())  # "leave this page?"
    form.fill_upload(big)
    expect(form.get_by_role("heading", name="Not finished")).to_be_visible()
    form.unroute("**/parts/2")  # not before: the page that was left would try again
    sent = []
    form.on("request", lambda request: sent.append(request.url.rsplit("/", 1)[-1]) if request.method == "PUT" else None)
    form.get_by_label("Name of the method").fill("Under a better name")
    form.get_by_role("button", name="Upload").click()
    form.wait_for_url("**/entries/*/")
    assert sent == ["2", "3"] and received(phase, big).method_name == "Under a better name"


def test_a_large_file_goes_straight_to_s3_across_origins(s3_files, form, phase, big, settings, s3_server):
    policy = copy.deepcopy(configured.CONTENT_SECURITY_POLICY)
    policy["DIRECTIVES"]["connect-src"].append(s3_server)  # as the settings do where S3 is configured
    settings.CONTENT_SECURITY_POLICY = policy
    rule = {"AllowedMethods": ["PUT"], "AllowedOrigins": ["*"], "AllowedHeaders": ["*"]}
    s3_files.client.put_bucket_cors(Bucket=settings.S3_BUCKET, CORSConfiguration={"CORSRules": [rule]})
    sent = []
    form.on("request", lambda request: sent.append(request.url) if request.method == "PUT" else None)
    form.fill_upload(big)
    form.get_by_role("button", name="Upload").click()
    form.wait_for_url("**/entries/*/")
    assert len(sent) == 2 and [url for url in sent if not url.startswith(s3_server)] == []
    assert stored_files.store().read(received(phase, big).file_key) == big.read_bytes()
    assert form.problems == []


def test_a_refusal_is_read_out_on_the_page(local_files, form, phase, big, people):
    form.fill_upload(big)
    type(phase).objects.filter(pk=phase.pk).update(limit_total=0)
    form.get_by_role("button", name="Upload").click()
    phase.refresh_from_db()
    expect(form.get_by_role("alert")).to_have_text(quota_of(phase, people.team).reason)


def test_the_documentation_of_the_api_opens_under_the_pages_policy(form, live_server):
    outside = []
    form.on("request", lambda request: outside.append(request.url) if not request.url.startswith((live_server.url, "data:")) else None)
    form.goto(f"{live_server.url}/api/v1/docs")
    expect(form.get_by_text("Reserve an upload")).to_be_visible()
    assert form.problems == [] and outside == []


def test_the_same_file_sent_again_at_once_leads_to_its_entry(local_files, form, phase, tmp_path):
    path = tmp_path / "entry.zip"
    path.write_bytes(os.urandom(1000))
    for _ in range(2):
        form.fill_upload(path)
        form.get_by_role("button", name="Upload").click()
        form.wait_for_url("**/entries/*/")
    received(phase, path)
    assert form.problems == []
