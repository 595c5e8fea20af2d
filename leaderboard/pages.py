"""Addresses of the public pages: boards, entries, metrics, documents."""

from __future__ import annotations

urlpatterns: list = []
