"""Addresses of what participants do: join, form a team, upload, fetch files."""

from __future__ import annotations

urlpatterns: list = []
