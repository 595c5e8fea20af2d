"""A small server of rating questions that speaks what the page expects, and that can be made to fail: for tests of the page alone."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from django.contrib.auth.models import AnonymousUser
from django.template.loader import render_to_string
from django.test import RequestFactory
from PIL import Image

from evaluation.synthetic import meshes
from leaderboard.viewer import mesh_scene
from submissions.formats.arrays import Mesh
from tests.support.factories import gables, perturbed
from tests.support.leaderboard.static_site import Answer, Request, Site

PAIRS = [{"key": "overall", "title": "Overall", "text": "Which comes nearer to the reference?"}]
SCORES = [{"key": key, "title": key.title(), "text": f"How good is its {key}?"} for key in ("quality", "structure")]


@dataclass
class Desk:
    """Questions 1 to `total`. `down` answers with that status instead (0: drops the connection); `note` is said of a question
    that was answered before.

    `stored` maps the number of a question to what was answered, `posts` has every answer as it came, again where it came again.
    """

    site: Site
    form: str = "wireframe"
    kind: str = "pairs"
    total: int = 5
    criteria: list[dict[str, str]] = field(default_factory=lambda: PAIRS)
    break_every: int = 350
    down: int | None = None
    busy_for: int = 0  # seconds after which one is to come again, as said while down
    refusal: str = "This question is not yours to answer."  # said while down
    lose_reply: bool = False  # the next answer is stored, but the reply never comes
    closed: str | None = None
    note: str | None = None
    completion: dict[str, str] | None = None
    prompt: str = ""  # with it, pictures of normals too
    stored: dict[int, dict[str, Any]] = field(default_factory=dict)
    posts: list[dict[str, Any]] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)

    def open(self) -> str:
        """Put it on the site; the address of the page."""
        self.site.routes["/rate/k/"] = lambda request: Answer(body=self.page())
        self.site.routes["/rate/k/next"] = lambda request: self.reply(None)
        self.site.routes["/rate/k/answer"] = self.answer
        self.site.routes["/rate/k/undo"] = self.undo
        for number in range(1, self.total + 1):
            base = f"/rate/k/scenes/t{number}"
            for name, make in self.files(number).items():
                make()
                self.site.routes[f"{base}/{name}"] = self.scene_file(f"{number}/{name}", make)
        return f"{self.site.url}/rate/k/"

    def page(self) -> str:
        phase = {"challenge": {"family": self.form}}
        study = {"title": "Roofs, side by side", "question": "Which wireframe is nearer to the house?", "kind": self.kind, "phase": phase}
        request = RequestFactory().get("/rate/k/")
        request.user = AnonymousUser()
        context = {"study": study, "user": request.user} | {
            f"{name}_url": f"/rate/k/{name}" for name in ("next", "answer", "undo", "leave")
        }
        return render_to_string("rating/rate.html", context, request)

    # ---- the three addresses

    def _now(self) -> int:
        return next((n for n in range(1, self.total + 1) if n not in self.stored), 0)

    def _question(self, number: int) -> dict[str, Any] | None:
        if not 0 < number <= self.total or number in self.stored:
            return None
        return {"id": f"t{number}", "number": number, "form": self.form, "scene": f"/rate/k/scenes/t{number}/scene.json"}

    def reply(self, note: str | None) -> Answer:
        if self.down is not None:
            return self.failing()
        now, n = self._now(), len(self.stored)
        last = f"t{max(self.stored)}" if self.stored else None
        about = {"title": "", "question": "Which wireframe is nearer to the house?", "kind": self.kind}
        left = (self.total - n) * 17 if n else None
        content = {
            "study": about | {"break_every": self.break_every, "criteria": self.criteria},
            "progress": {"answered": n, "total": self.total, "since_break": n, "per_hour": 214 if n else None, "seconds_left": left},
            "question": None if self.closed else self._question(now),
            "following": None if self.closed else self._question(now + 1 if now else 0),
            "done": not now,
            "closed": self.closed,
            "note": note,
            "undo": last,
            "completion": None if now else self.completion,
        }
        return Answer(body=json.dumps(content), type="application/json")

    def failing(self) -> Answer:
        if self.down == 0:
            raise ConnectionAbortedError
        content = {"detail": self.refusal, "status": self.down}
        return Answer(self.down, json.dumps(content), "application/problem+json", {"Retry-After": str(self.busy_for)})

    def answer(self, request: Request) -> Answer:
        given = json.loads(request.body)
        if self.down is not None:
            return self.failing()
        self.posts.append(given)
        number = int(given["question"][1:])
        again = number in self.stored
        self.stored.setdefault(number, given["answers"])
        if self.lose_reply:
            self.lose_reply = False
            raise ConnectionAbortedError
        return self.reply(self.note if again else None)

    def undo(self, request: Request) -> Answer:
        if self.down is not None:
            return self.failing()
        self.stored.pop(int(json.loads(request.body)["question"][1:]), None)
        return self.reply(None)

    # ---- what is looked at

    def scene_file(self, name: str, make: Any) -> Any:
        def found(request: Request) -> Answer:
            self.loaded.append(name)
            content = make()
            return Answer(body=content, type="application/json" if name.endswith(".json") else "application/octet-stream")

        return found

    def files(self, number: int) -> dict[str, Any]:
        return {"wireframe": self._wireframes, "mesh": self._meshes, "render": self._renders}[self.form](number)

    @property
    def sides(self) -> tuple[str, ...]:
        return ("left",) if self.kind == "opinions" else ("left", "right")

    def _wireframes(self, number: int) -> dict[str, Any]:
        name = list(gables())[number % len(gables())]
        frames = {"reference": gables()[name]} | {side: perturbed(gables(), 0.2 + 0.5 * k)[name] for k, side in enumerate(self.sides)}
        centre = frames["reference"].vertices.mean(axis=0)
        models = [
            {
                "name": side,
                "role": "reference" if side == "reference" else "prediction",
                "vertices": (frame.vertices - centre).tolist(),
                "edges": frame.edges.tolist(),
            }
            for side, frame in frames.items()
        ]
        return {"scene.json": lambda: json.dumps({"form": "wireframe", "unit": "m", "models": models})}

    def _meshes(self, number: int) -> dict[str, Any]:
        sides = ("reference", *self.sides)
        models = [{"name": side, "role": "reference" if side == "reference" else "prediction", "file": f"{side}.mesh"} for side in sides]
        scene = {"form": "mesh", "unit": "m", "models": models}
        found: dict[str, Any] = {"scene.json": lambda: json.dumps(scene)}
        for k, side in enumerate(sides):
            found[f"{side}.mesh"] = lambda k=k: mesh_scene.single(mug(number, 0.12 * k), np.zeros(3))
        return found

    def _renders(self, number: int) -> dict[str, Any]:
        sides = ("reference", *self.sides)
        views = [{side: f"{side}-{n}.webp" for side in sides} for n in range(1, 5)]
        scene = {"form": "render", "prompt": self.prompt, "normals": bool(self.prompt), "views": views}
        found: dict[str, Any] = {"scene.json": lambda: json.dumps(scene)}
        for n, view in enumerate(views):
            for k, (_, name) in enumerate(view.items()):
                found[name] = lambda n=n, k=k: picture(number, n, k)
                if self.prompt and k:  # the reference has no normals
                    found[name.replace(".", "-normal.")] = lambda n=n, k=k: picture(number + 50, n, k)
        return found


@lru_cache(maxsize=256)
def mug(seed: int, noise: float) -> Mesh:
    """A mug, and worse ones."""
    found = meshes.mesh("mug", seed)
    moved = noise * np.random.default_rng(seed).normal(size=found.vertices.shape) * 0.2
    return Mesh(found.vertices + moved, found.faces)


@lru_cache(maxsize=256)
def picture(seed: int, view: int, noise: int) -> bytes:
    y, x = np.mgrid[0:240, 0:320]
    base = np.stack([np.sin((x + 20 * view) / (9 + seed)), np.cos(y / 14), np.sin((x - y) / 23)], axis=-1) * 80 + 128
    shown = np.clip(base + np.random.default_rng(seed).normal(size=base.shape) * 25 * noise, 0, 255).astype(np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(shown).save(buffer, "WEBP", lossless=True, method=0, quality=0)  # as quickly as it can be done
    return buffer.getvalue()
