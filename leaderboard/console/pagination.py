"""Long lists, a page at a time."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest

ROWS = 50


def paged(request: HttpRequest, rows: QuerySet | list, size: int = ROWS) -> tuple[list[int | None], int, list]:
    """(the page numbers to offer, None for a gap; the page shown; its rows)."""
    paginator = Paginator(rows, size)
    shown = paginator.get_page(request.GET.get("page"))
    if paginator.num_pages == 1:
        return [], 1, list(shown)
    offered = paginator.get_elided_page_range(shown.number, on_each_side=2, on_ends=1)
    return [it if isinstance(it, int) else None for it in offered], shown.number, list(shown)
