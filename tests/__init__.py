"""The tests: what each needs is told by its folder (CONTRIBUTING.md)."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]  # of the repository
