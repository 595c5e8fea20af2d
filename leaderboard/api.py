"""The REST API, /api/v1/."""

from __future__ import annotations

from ninja import NinjaAPI

api = NinjaAPI(title="Plumbline", version="1")
