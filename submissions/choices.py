"""Text choices of Django, typed: without a plug-in a type checker takes their members for pairs of texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from enum import EnumMeta, StrEnum

    class _Choices(EnumMeta):
        @property
        def choices(cls) -> list[tuple[str, str]]: ...
        @property
        def labels(cls) -> list[str]: ...
        @property
        def values(cls) -> list[str]: ...

    class TextChoices(StrEnum, metaclass=_Choices):
        def __new__(cls, value: str, label: str = ...) -> TextChoices: ...
        @property
        def label(self) -> str: ...
        @property
        def value(self) -> str: ...

else:
    from django.db.models import TextChoices

__all__ = ["TextChoices"]
