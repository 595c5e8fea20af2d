"""Modules that a process of the service loads before its first request or task: every start pays for them, of each command too."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests import ROOT
from tests.support.source_tree import LOADED_ON_FIRST_USE

WEB = "from django.core.wsgi import get_wsgi_application; get_wsgi_application(); from django.core.checks import run_checks; run_checks()"
WORKER = "import evaluation.celery; evaluation.celery.app.loader.import_default_modules(); import evaluation.tasks, leaderboard.tasks"
TELL = "import sys; print(*sys.modules)"


@pytest.mark.parametrize("start", [WEB, WORKER], ids=["web", "worker"])
def test_a_process_starts_without_what_only_some_of_its_work_needs(start, tmp_path):
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "leaderboard.settings", "PLUMBLINE_HOME": str(tmp_path)}
    code = f"import django; django.setup(); {start}; {TELL}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT, env=environment)
    loaded = done.stdout.splitlines()[-1].split()
    assert "leaderboard" in loaded and "numpy" in loaded
    assert [name for name in (*LOADED_ON_FIRST_USE, "trimesh", "sklearn") if name in loaded] == []
