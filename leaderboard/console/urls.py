"""Addresses of the organizer's console."""

from __future__ import annotations

urlpatterns: list = []
