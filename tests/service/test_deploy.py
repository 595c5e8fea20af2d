"""Things that the cluster's files name and that must exist: settings, commands, queues, addresses, files."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import yaml
from django.conf import settings
from django.core.management import get_commands
from django.urls import resolve

from evaluation.celery import BESIDE, app
from evaluation.models import Process
from submissions.worker_notify import TASKS
from tests.service.leaderboard.test_settings import names_read

DEPLOY = settings.BASE_DIR / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
SERVICES = COMPOSE["services"]
OURS = {name: service for name, service in SERVICES.items() if "build" in service}
EXAMPLE = (DEPLOY / "env.example").read_text()
GUIDE = (DEPLOY / "README.md").read_text()
CONTAINERFILE = (DEPLOY / "Containerfile").read_text()
SET = dict(re.findall(r"^([A-Z0-9_]+)=(.*)$", EXAMPLE, re.M))
DEFAULTS = dict(re.findall(r"^#([A-Z0-9_]+)=(.*)$", EXAMPLE.partition("# --- where things are")[0], re.M))


def words(service: dict) -> list[str]:
    """The command of a container of ours, in words; its own or the image's."""
    command = service.get("command") or yaml.safe_load(re.search(r"^CMD (\[.*\])$", CONTAINERFILE, re.M)[1])
    return shlex.split(command[2].replace("&&", ";")) if command[0] == "sh" else command


def test_compose_asks_only_for_what_the_example_sets():
    assert set(re.findall(r"\$\{([A-Z0-9_]+)", (DEPLOY / "compose.yaml").read_text())) <= set(SET)
    assert {key: service for key, service in OURS.items() if service["env_file"] != ".env"} == {}


def test_every_container_of_ours_runs_without_rights_on_a_read_only_system():
    assert set(OURS) == {"migrate", "web", "worker", "worker-gpu", "scheduler"}
    for name, service in OURS.items():
        assert service["read_only"] and service["cap_drop"] == ["ALL"] and service["init"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
    assert re.search(r"^USER plumbline$", CONTAINERFILE, re.M)


def test_nothing_but_a_proxy_on_the_same_machine_reaches_a_port():
    ports = [port for service in SERVICES.values() for port in service.get("ports", [])]
    assert ports and [port for port in ports if not port.startswith("127.0.0.1:")] == []


def test_the_commands_of_the_containers_exist():
    for service in OURS.values():
        given = words(service)
        for program, name in pairwise(given):
            if program == "manage.py":
                assert name.strip(";") in get_commands()
        if "celery" in given:
            assert import_module(given[given.index("-A") + 1]).app is app
    given = words(SERVICES["web"])
    assert callable(import_module(given[given.index("-m") + 1]).main)


def test_the_workers_serve_every_queue_that_is_nudged():
    served = {given[given.index("-Q") + 1] for given in map(words, OURS.values()) if "-Q" in given}
    assert served | {*BESIDE} == {queue for _, queue in TASKS.values()} == {queue.name for queue in app.conf.task_queues}
    assert "cpu" in served, "whose workers take of the others too"


def test_what_depends_on_another_container_waits_for_what_that_one_has():
    for name, service in SERVICES.items():
        needs = service.get("depends_on", {})
        for other, how in needs.items() if isinstance(needs, dict) else []:
            wanted = how["condition"]
            assert wanted != "service_healthy" or "healthcheck" in SERVICES[other], f"{name} waits for {other}"
            assert wanted != "service_completed_successfully" or SERVICES[other]["restart"] == "no", f"{name} waits for {other}"


def test_health_is_asked_at_addresses_that_there_are():
    checked = re.findall(r"http://127\.0\.0\.1:8000(/[^']*)'", " ".join(SERVICES["web"]["healthcheck"]["test"]))
    named = re.findall(r"`(/-/\w+)`", GUIDE)
    assert checked == ["/-/health"] and set(named) == {"/-/health", "/-/ready", "/-/metrics"}
    for path in {*checked, *named}:
        resolve(path)


def test_workers_and_scheduler_are_asked_for_their_own_heartbeat():
    for name, kind in {"worker": "worker", "worker-gpu": "worker", "scheduler": "sweeper"}.items():
        *command, asked = OURS[name]["healthcheck"]["test"]
        assert command == ["CMD", "python", "manage.py", "heartbeat"] and asked == kind and asked in Process.Kind.values


def test_the_new_database_is_waited_for_by_tcp():
    """The image's first server, which only sets the database up, listens on the socket and goes again."""
    assert "-h" in SERVICES["db"]["healthcheck"]["test"]


def test_the_image_is_made_of_files_that_there_are_and_that_reach_it():
    copied = [word for line in re.findall(r"^COPY (.+)$", CONTAINERFILE, re.M) for word in line.split()[:-1]]
    kept = re.findall(r"^!(.+)$", (settings.BASE_DIR / ".dockerignore").read_text(), re.M)
    assert sorted(copied) == sorted(kept)
    assert [name for name in copied if not (settings.BASE_DIR / name).exists()] == []


def test_the_guide_names_commands_settings_and_containers_that_there_are():
    assert set(re.findall(r"manage\.py (\w+)", GUIDE)) <= set(get_commands())
    assert set(re.findall(r"PLUMBLINE_[A-Z0-9_]+", GUIDE)) <= names_read()
    lines = [line for block in re.findall(r"^```\w*\n(.*?)^```", GUIDE, re.S | re.M) for line in block.splitlines()]
    asked = [shlex.split(line.split(" # ")[0].split("<")[0].split(">")[0]) for line in lines if line.startswith("docker compose")]
    assert {given[2] for given in asked} == {"up", "exec", "run"}
    for given in asked:
        options = {"-d", "-T", "--build", "--wait", "--rm"}
        rest = [word for word in given[3:] if word not in options]
        while rest and rest[0] in ("-v", "--entrypoint"):
            rest = rest[2:]
        named = rest if given[2] == "up" else rest[:1]
        assert set(named) <= set(SERVICES) and [word for word in named if word.startswith("-")] == [], given


SHOW = """
import json
from leaderboard import settings
print(json.dumps({name: str(getattr(settings, name)) for name in dir(settings) if name.isupper()}))
"""


def test_the_defaults_that_the_example_gives_are_the_defaults(tmp_path: Path):
    """Every line may lose its # and changes nothing."""
    bare = {name: value for name, value in os.environ.items() if not name.startswith("PLUMBLINE_")}
    bare |= {"PLUMBLINE_HOME": str(tmp_path), "PLUMBLINE_SECRET_KEY": "x", "PYTHONHASHSEED": "0"}
    assert len(DEFAULTS) > 25

    def shown(env: dict[str, str]) -> str:
        command = [sys.executable, "-c", SHOW]
        return subprocess.run(command, env=env, cwd=settings.BASE_DIR, capture_output=True, text=True, check=True).stdout

    assert shown(bare) == shown(bare | DEFAULTS)
