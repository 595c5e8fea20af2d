"""Manifests for Kubernetes and the jobs for Slurm and HTCondor: valid by their schemas, and naming only what exists."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec

import pytest
import yaml
from django.conf import settings
from django.core.management import get_commands

from evaluation.models import WorkerToken
from evaluation.work import remote_worker_client
from tests.support.factories import ChallengeFactory

DEPLOY = settings.BASE_DIR / "deploy"
VERSION = "1.31"
SERVICE = list(yaml.safe_load_all((DEPLOY / "kubernetes" / "service.yaml").read_text()))
SCALED, ASKING, SCALED_POLICY = yaml.safe_load_all((DEPLOY / "kubernetes" / "workers.yaml").read_text())
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
SCRIPT, SUBMITTED = DEPLOY / "workers.sbatch", DEPLOY / "workers.sub"

# What KEDA's ScaledJob (keda.sh/v1alpha1) takes, of the fields used here; its jobTargetRef is the spec of a Job.
SCALED_JOB = {
    "type": "object",
    "required": ["apiVersion", "kind", "metadata", "spec"],
    "properties": {
        "apiVersion": {"const": "keda.sh/v1alpha1"},
        "kind": {"const": "ScaledJob"},
        "spec": {
            "type": "object",
            "required": ["jobTargetRef", "triggers"],
            "additionalProperties": False,
            "properties": {
                "jobTargetRef": {"type": "object", "required": ["template"]},
                "pollingInterval": {"type": "integer"},
                "minReplicaCount": {"type": "integer"},
                "maxReplicaCount": {"type": "integer"},
                "successfulJobsHistoryLimit": {"type": "integer"},
                "failedJobsHistoryLimit": {"type": "integer"},
                "triggers": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["type", "metadata"],
                        "properties": {
                            "type": {"type": "string"},
                            "metadata": {"type": "object", "additionalProperties": {"type": "string"}},
                            "authenticationRef": {"type": "object", "required": ["name"]},
                        },
                    },
                },
            },
        },
    },
}


@pytest.fixture(scope="module")
def kubernetes_validate():
    """With jsonschema, whose check of IRIs compiles 38 grammars when it is imported; no schema here asks for one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "rfc3987_syntax", None)
        return import_module("kubernetes_validate")


@pytest.mark.parametrize("manifest", [*SERVICE, SCALED_POLICY], ids=lambda it: f"{it['kind']}-{it['metadata']['name']}")
def test_each_manifest_keeps_to_the_schema_of_kubernetes(manifest, kubernetes_validate):
    kubernetes_validate.validate(manifest, VERSION, strict=True)


def test_a_manifest_with_a_slip_does_not(kubernetes_validate):
    wrong = {**SERVICE[0], "spec": {**SERVICE[0]["spec"], "backOffLimit": 6}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, VERSION, strict=True)


def test_the_scaled_job_keeps_to_kedas_schema_and_its_job_to_kubernetes(kubernetes_validate):
    import_module("jsonschema").validate(SCALED, SCALED_JOB)
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": SCALED["metadata"], "spec": SCALED["spec"]["jobTargetRef"]}
    kubernetes_validate.validate(job, VERSION, strict=True)


def test_web_workers_sweeper_and_migrations_are_there_with_the_commands_of_compose():
    pods = {it["metadata"]["name"]: it["spec"]["template"]["spec"] for it in SERVICE if it["kind"] in ("Deployment", "Job")}
    assert pods.keys() == {"migrate", "web", "worker", "sweeper"}
    for name, other in (("migrate", "migrate"), ("worker", "worker"), ("sweeper", "scheduler")):
        assert pods[name]["containers"][0]["command"] == COMPOSE[other]["command"], name
    for name, pod in pods.items():
        (container,) = pod["containers"]
        assert container["image"] == COMPOSE["scheduler" if name == "sweeper" else name]["image"]
        assert container["securityContext"]["readOnlyRootFilesystem"] and container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert pod["securityContext"]["runAsUser"] == 10001 and not pod["automountServiceAccountToken"]
        for command in re.findall(r"manage\.py[ ,']+(\w+)", str(container.get("command", "")).replace("'", "")):
            assert command in get_commands()


def test_web_workers_and_sweeper_share_the_weights():
    (claim,) = [it for it in SERVICE if it["kind"] == "PersistentVolumeClaim"]
    assert claim["spec"]["accessModes"] == ["ReadWriteMany"]
    for pod in (it["spec"]["template"]["spec"] for it in SERVICE if it["kind"] == "Deployment"):
        assert {"name": "weights", "persistentVolumeClaim": {"claimName": claim["metadata"]["name"]}} in pod["volumes"]
        assert {"name": "weights", "mountPath": "/var/lib/plumbline/weights"} in pod["containers"][0]["volumeMounts"]


def test_policies_choose_the_pods_that_they_are_for():
    parts = {it["metadata"]["labels"]["part"] for it in SERVICE if it["kind"] in ("Deployment", "Job")}
    (policy,) = [it for it in SERVICE if it["kind"] == "NetworkPolicy"]
    assert set(policy["spec"]["podSelector"]["matchExpressions"][0]["values"]) == parts - {"web"}
    assert SCALED_POLICY["spec"]["podSelector"]["matchLabels"] == SCALED["spec"]["jobTargetRef"]["template"]["metadata"]["labels"]


def test_the_command_that_is_named_puts_a_registry_before_every_image():
    path = DEPLOY / "kubernetes" / "service.yaml"
    expression = re.search(r"sed '(.+)' deploy/kubernetes/service.yaml", path.read_text())[1]
    made = subprocess.run(["sed", expression, path], capture_output=True, text=True, check=True).stdout
    images = set(re.findall(r"^ +image: (\S+)$", made, re.MULTILINE))
    assert images == {"REGISTRY/plumbline:VERSION", "REGISTRY/plumbline-web:VERSION"}
    (built,) = re.findall(r'--build-arg "WITHOUT=(.+)"', path.read_text())
    assert built == COMPOSE["web"]["build"]["args"]["WITHOUT"]


@pytest.mark.django_db
def test_the_workers_elsewhere_run_a_command_that_exists_on_a_figure_that_is_given(client):
    (container,) = SCALED["spec"]["jobTargetRef"]["template"]["spec"]["containers"]
    python, dash_m, module, command, *words = container["command"]
    assert (python, dash_m, command) == ("python", "-m", "worker") and find_spec(f"{module}.__main__")
    options = remote_worker_client._parser().parse_args(words)
    assert options.drain and options.server.startswith("https://")
    (trigger,) = SCALED["spec"]["triggers"]
    asked = trigger["metadata"]
    assert trigger["type"] == "metrics-api" and asked["authMode"] == "bearer" and asked["url"].startswith(f"{options.server}/")
    assert trigger["authenticationRef"]["name"] == ASKING["metadata"]["name"] and ASKING["kind"] == "TriggerAuthentication"
    (secret,), (variable,) = ASKING["spec"]["secretTargetRef"], container["env"]
    assert secret == {"parameter": "token"} | variable["valueFrom"]["secretKeyRef"], "one secret for both"
    _, key = WorkerToken.make(ChallengeFactory(), None, "lab", ["cpu"], 30)
    answer = client.get(asked["url"].removeprefix(options.server), headers={"authorization": f"Bearer {key}"}).json()
    for name in asked["valueLocation"].split("."):
        answer = answer[name]
    assert answer == 0


def test_the_script_of_slurm_gives_the_worker_what_it_understands(tmp_path):
    assert subprocess.run(["bash", "-n", SCRIPT]).returncode == 0
    said = tmp_path / "said"
    fake = tmp_path / "plumbline"
    fake.write_text(f'#!/bin/bash\nprintf "%s\\n" "$*" > {said}\n')
    fake.chmod(0o755)
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "PLUMBLINE_BIN": str(fake),
        "SLURM_ARRAY_JOB_ID": "7",
        "SLURM_ARRAY_TASK_ID": "3",
    }
    missing = subprocess.run(["bash", SCRIPT], env=env, capture_output=True, text=True)
    assert missing.returncode != 0 and "say which server" in missing.stderr
    env |= {"PLUMBLINE_SERVER": "https://boards.example.org"}
    assert subprocess.run(["bash", SCRIPT], env=env).returncode == 0
    command, *words = shlex.split(said.read_text())
    options = remote_worker_client._parser().parse_args(words)
    assert command == "worker" and options.drain and options.name == "slurm-7-3" and options.queue == ["cpu"]
    assert not options.token, "a token on a command line is seen by everybody on the node"
    assert options.token_file == f"{tmp_path}/.plumbline-token"


def test_the_script_passes_the_end_of_its_time_on_to_the_worker(tmp_path):
    fake = tmp_path / "plumbline"
    fake.write_text(
        f"#!{sys.executable}\nimport signal, sys, time, pathlib\n"
        f"signal.signal(signal.SIGTERM, lambda *_: (pathlib.Path({str(tmp_path / 'ended')!r}).write_text('gave it back'), sys.exit(143)))\n"
        f"pathlib.Path({str(tmp_path / 'begun')!r}).write_text('')\ntime.sleep(60)\n"
    )
    fake.chmod(0o755)
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "PLUMBLINE_BIN": str(fake),
        "PLUMBLINE_SERVER": "x",
    }
    process = subprocess.Popen(["bash", SCRIPT], env=env)
    from tests.support.processes import wait_until

    wait_until((tmp_path / "begun").exists, what="the worker")
    process.terminate()
    assert process.wait(30) == 0 and (tmp_path / "ended").read_text() == "gave it back"


class NoJob(Exception):
    """condor_submit refuses the file, with this sentence."""


def submitted(home: str, **said: str) -> dict[str, str]:
    """Job that condor_submit makes of the file, by the language that it uses: `if [!] defined`, `error :`, $(name), $ENV(HOME) and
    $(name:otherwise), with no hyphen in what stands there otherwise."""
    values, reading = dict(said), [True]
    for line in (line.strip() for line in SUBMITTED.read_text().splitlines()):
        if condition := re.fullmatch(r"if (! )?defined (\w+)", line):
            reading.append((condition[2] in values) is (condition[1] is None))
        elif line == "endif":
            reading.pop()
        elif line and not line.startswith("#") and all(reading):
            if line.startswith("error :"):
                raise NoJob(line.removeprefix("error :").strip())
            name, _, value = line.partition(" ") if line.startswith("queue") else line.partition("=")
            values[name.strip()] = value.strip()

    def expanded(text: str) -> str:
        text = text.replace("$ENV(HOME)", home)
        known = values | {"Cluster": "7", "Process": "3"}
        text = re.sub(r"\$\((\w+)(?::([\w/.]*))?\)", lambda it: expanded(known.get(it[1], it[2] or "")), text)
        assert "$(" not in text, text
        return text

    return {name: expanded(value) for name, value in values.items()}


def test_the_job_of_htcondor_gives_the_worker_what_it_understands_and_holds_no_token(tmp_path):
    with pytest.raises(NoJob, match="say which server"):
        submitted("/home/jo")
    said = tmp_path / "said"
    fake = tmp_path / "plumbline"
    fake.write_text(f'#!/bin/bash\nprintf "%s\\n" "$$ $*" > {said}\n')
    fake.chmod(0o755)
    job = submitted("/home/jo-ann", server="https://boards.example.org", workers="20", plumbline=str(fake))
    assert job["queue"] == "20" and job["executable"] == "/bin/sh" and job["should_transfer_files"] == "NO"
    assert "environment" not in job and "getenv" not in job and "plumbw_" not in str(job), "everybody can read the job"
    assert job["kill_sig"] == "SIGTERM" and "request_gpus" not in job
    quoted = re.fullmatch('"(.*)"', job["arguments"])[1].replace('""', '"')
    process = subprocess.Popen(
        [job["executable"], *shlex.split(quoted)], env={"PATH": os.environ["PATH"], "_CONDOR_SCRATCH_DIR": "/scratch/1"}
    )
    assert process.wait(30) == 0
    number, command, *words = shlex.split(said.read_text())
    assert int(number) == process.pid, "the pool's signal reaches the worker itself"
    options = remote_worker_client._parser().parse_args(words)
    assert command == "worker" and options.drain and options.name == "condor-7-3" and options.queue == ["cpu"]
    assert options.token_file == "/home/jo-ann/.plumbline-token" and not options.token
    assert str(options.folder) == "/scratch/1/plumbline" and options.max_minutes == 220
    cards = submitted("/home/jo", server="https://boards.example.org", device="gpu", cards="1", token_file="/net/my-token")
    assert "--queue gpu" in cards["arguments"] and "--token-file /net/my-token " in cards["arguments"] and cards["request_gpus"] == "1"
