"""Reader of settings from the environment: each has a kind and, where it is a number, a range.

An unreadable variable is noted as one sentence with its name, its value and an example. Its default is used until all settings are read, so
that `end_if_wrong` can say everything that is wrong at once.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from email.utils import parseaddr
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import dj_database_url
import dj_email_url
from environs import Env, EnvError, ValidationError

MAX_SHOWN = 80  # characters of a value
MAILERS = ("smtp", "smtps", "submission", "submit", "console", "memory", "dummy")
RATE = re.compile(r"[1-9]\d*/([1-9]\d*)?[smhd]")
ACCOUNT_RATES = re.compile(r"[1-9]\d*/([1-9]\d*)?[smhd](/(ip|user|key))?(, ?[1-9]\d*/([1-9]\d*)?[smhd](/(ip|user|key))?)*")
HOST = re.compile(r"\*|\.?[A-Za-z0-9_][A-Za-z0-9._-]*|\[[0-9A-Fa-f:.]+\]")
PREFIX = re.compile(r"[A-Za-z0-9_-]{1,40}")
AMOUNT = re.compile(r"[0-9]{1,8}(\.[0-9]{1,4})?")
BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")


class Environment:
    """Variables whose names begin with `prefix`. Every method takes a name and the default of a variable that is not set."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.wrong: list[str] = []
        self._env = Env(prefix=prefix)

    def end_if_wrong(self) -> None:
        """End the process, whichever it is, with a sentence for each setting that could not be read."""
        if self.wrong:
            raise SystemExit("\n".join(self.wrong))

    def refuse(self, name: str, value: object, wanted: str, example: object, secret: bool = False) -> None:
        """Note that a setting is wrong; a secret's value is not repeated."""
        text = str(value)
        given = " (a secret, not shown)" if secret else f"={text[:MAX_SHOWN]!r}{'…' if len(text) > MAX_SHOWN else ''}"
        self.wrong.append(f"{self.prefix}{name}{given} is not {wanted}; write for example {self.prefix}{name}={example}")

    def _read(
        self,
        parse: str,
        name: str,
        default: Any,
        wanted: str,
        example: object,
        check: Callable[[Any], bool] | None = None,
        secret: bool = False,
    ) -> Any:

        def validate(value: Any) -> None:
            if check is not None and not check(value):
                raise ValidationError(wanted)

        try:
            return getattr(self._env, parse)(name, default, validate=validate)
        except (EnvError, ValueError):  # ValueError: of an address that urllib cannot take apart
            self.refuse(name, self._env.str(name, ""), wanted, example, secret)
            return default

    # --- plain values ------------------------------------------------------------------------------

    def text(self, name: str, default: str) -> str:
        """Any text."""
        return self._read("str", name, default, "a text", default)

    def flag(self, name: str, default: bool) -> bool:
        return self._read("bool", name, default, "true or false", str(default).lower())

    def integer(self, name: str, default: int, least: int = 0, most: int = 2**53) -> int:
        wanted = f"a whole number {_range(least, most, 2**53)}"
        return self._read("int", name, default, wanted, default, lambda value: least <= value <= most)

    def decimal(self, name: str, default: float, least: float = 0.0, most: float = math.inf) -> float:
        wanted = f"a number {_range(least, most, math.inf)}"
        return self._read("float", name, default, wanted, f"{default:g}", lambda value: math.isfinite(value) and least <= value <= most)

    def price(self, name: str) -> Decimal | None:
        """An amount of at least 0, with four decimals at most; None where it is empty."""
        text = self._env.str(name, "").strip()
        if text and not AMOUNT.fullmatch(text):
            self.refuse(name, text, "an amount from 0 on, below 100 million and with at most four decimals", "2.5")
            return None
        return Decimal(text) if text else None

    def prices(self, name: str) -> dict[str, tuple[Decimal, Decimal]]:
        """Two prices for each name: NAME=IN/OUT, separated by commas; a name may hold colons and slashes."""
        found: dict[str, tuple[Decimal, Decimal]] = {}
        text: str = self._env.str(name, "")
        for one in text.split(","):
            if not one.strip():
                continue
            called, _, amounts = one.rpartition("=")
            first, _, second = amounts.partition("/")
            if not called.strip() or not AMOUNT.fullmatch(first) or not AMOUNT.fullmatch(second):
                self.refuse(name, one, "the name of a model with its two prices", "vision-large=2.5/10,vision-small=0.15/0.6")
                return {}
            found[called.strip()] = (Decimal(first), Decimal(second))
        return found

    def choice(self, name: str, default: str, choices: Sequence[str]) -> str:
        """One of the choices, as it is written there; upper and lower case are the same."""
        written = {one.lower(): one for one in choices}
        wanted = f"one of {', '.join(choices)}"
        chosen = self._read("str", name, default, wanted, default, lambda value: value.lower() in written)
        return written[chosen.lower()]

    def matching(self, name: str, default: str, pattern: re.Pattern[str], wanted: str, example: str) -> str:
        """A text of a shape; empty where the default is."""
        empty = default == ""
        return self._read("str", name, default, wanted, example, lambda value: (empty and not value) or bool(pattern.fullmatch(value)))

    def rate(self, name: str, default: str) -> str:
        return self.matching(name, default, RATE, "an amount and a time", default)

    def account_rates(self, name: str, default: str) -> str:
        return self.matching(name, default, ACCOUNT_RATES, "amounts and times, each for an ip, user or key", default)

    def hosts(self, name: str, default: list[str]) -> list[str]:
        wanted = "a list of host names without https:// and ports, separated by commas"
        good = lambda values: bool(values) and all(HOST.fullmatch(one) for one in values)  # noqa: E731
        return self._read("list", name, default, wanted, "boards.example.org,127.0.0.1", good)

    def origins(self, name: str, default: list[str]) -> list[str]:
        wanted = "a list of addresses that begin with https://, separated by commas"
        return self._read("list", name, default, wanted, "https://boards.example.org", lambda values: all(map(_is_web, values)))

    def web_addresses(self, name: str) -> list[str]:
        """Addresses that begin with http:// or https://, separated by commas; none by default."""
        wanted = "a list of web addresses, separated by commas"
        good = lambda values: all(_is_web(one.strip()) for one in values if one)  # noqa: E731
        given: list[str] = self._read("list", name, [], wanted, "https://api.openai.com/v1", good)
        return [one.strip().rstrip("/") for one in given if one]

    def texts(self, name: str) -> list[str]:
        """Any texts, separated by commas; none by default."""
        given: list[str] = self._env.list(name, [])
        return [one for one in given if one]

    def sender(self, name: str, default: str) -> str:
        return self._read("str", name, default, "a sender of e-mails", default, lambda text: "@" in parseaddr(text)[1])

    # --- places ------------------------------------------------------------------------------------

    def folder(self, name: str, default: Path) -> Path:
        """A folder that is there or can be made."""

        def possible(path: Path) -> bool:
            there = path.absolute()
            while not there.exists() and there != there.parent:
                there = there.parent
            return "\0" not in str(path) and there.is_dir()

        return self._read("path", name, default, "a folder, or a place where one can be made", "/var/lib/plumbline", possible)

    def file(self, name: str, default: Path) -> Path:
        return self._read("path", name, default, "a file, or a place where one can be made", default, lambda path: not path.is_dir())

    def web_address(self, name: str, default: str, example: str) -> str:
        """http:// or https:// and a host; empty where the default is."""
        address = self._read("str", name, default, "a web address", example, lambda text: (not text and not default) or _is_web(text))
        return address.rstrip("/")

    def redis(self, name: str, example: str) -> str:
        """The address of a database of a Redis server; empty where none is set. It may hold a password."""

        def good(text: str) -> bool:
            parts = urlsplit(text)
            server = parts.scheme in ("redis", "rediss") and parts.hostname and parts.port != 0
            return not text or bool(server and re.fullmatch(r"(/\d*)?", parts.path))

        return self._read("str", name, "", "the address of a Redis database", example, good, secret=True)

    def postgres(self, name: str) -> str:
        """The address of a database; empty where none is set. It holds a password."""
        wanted, example = "the address of a PostgreSQL database", "postgres://user:password@host:5432/name"

        def known(text: str) -> bool:
            parts = urlsplit(text)
            named = parts.scheme in ("postgres", "postgresql") and parts.port != 0 and bool(dj_database_url.parse(text)["NAME"])
            return not text or named

        return self._read("str", name, "", wanted, example, known, secret=True)

    def mailer(self, name: str, default: str) -> dict[str, Any]:
        """Django's settings of the mail server. The address may hold a password."""
        wanted, example = "the address of a mail server", "smtp://user:password@host:587/?tls=True"

        def known(text: str) -> bool:
            parts = urlsplit(text)
            options = parse_qs(parts.query, keep_blank_values=True)
            plain = parts.scheme in MAILERS and options.keys() <= {"tls", "ssl"} and (parts.hostname or not parts.scheme.startswith("s"))
            return bool(plain and (parts.port is None or parts.port > 0) and not (_yes(options, "tls") and _yes(options, "ssl")))

        text = self._read("str", name, default, wanted, example, known, secret=True)
        return dj_email_url.parse(text)


def _range(least: float, most: float, endless: float) -> str:
    return f"from {least:g} on" if most == endless else f"between {least:g} and {most:g}"


def _is_web(text: str) -> bool:
    parts = urlsplit(text)
    return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0 and " " not in text


def _yes(options: dict[str, list[str]], name: str) -> bool:
    return options.get(name, ["false"])[-1].lower() in ("1", "y", "yes", "t", "true", "on")
