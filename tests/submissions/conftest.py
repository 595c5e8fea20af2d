"""Fixtures of uploads: where the bytes go."""

from __future__ import annotations

import uuid

import pytest

from submissions import storage


@pytest.fixture
def local_files(settings, tmp_path):
    """A folder of this test's own, on the cluster profile too: parts then come through the service."""
    settings.HOME, settings.S3_BUCKET = tmp_path, ""
    return storage.store()


@pytest.fixture
def s3_files(settings, tmp_path, s3_server):
    """A bucket of this test's own."""
    settings.HOME, settings.S3_BUCKET = tmp_path, f"test-{uuid.uuid4().hex[:12]}"
    settings.S3_ENDPOINT = settings.S3_PUBLIC_ENDPOINT = s3_server
    settings.S3_ACCESS_KEY = settings.S3_SECRET_KEY = "test"
    store = storage.store()
    store.client.create_bucket(Bucket=settings.S3_BUCKET)
    return store
