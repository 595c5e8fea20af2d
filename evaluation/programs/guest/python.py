"""A call of a Python program: load it, read the order, and answer."""

from __future__ import annotations

import importlib.util
import inspect
import io
import json
import os
import random
import sys
import traceback
import types
from typing import Any

from evaluation.programs.guest import TAIL


def answer(folder: str, entry: str, place: int, scratch: str) -> bytes:
    """The answer to the order that lies in the descriptor `place`: its nonce, then as JSON `result`, or how it went wrong. An order without
    items asks which modules are there after the program was loaded. Files of items are written below the folder `scratch`."""
    nonce = b""
    try:
        before = set(sys.modules)
        program = load(folder, entry)
        order, data = read(place)
        nonce = order["nonce"].encode()
        if "items" not in order:
            return nonce + json.dumps({"modules": sorted(set(sys.modules) - before)}).encode()
        return nonce + json.dumps({"result": result_of(program, order, data, scratch)}, default=plain).encode()
    except MemoryError:
        found = {"end": "memory"}
    except RecursionError:
        found = {"error": "RecursionError: it returned values nested too deep, or called itself too often"}
    except BaseException:
        found = {"error": traceback.format_exc(limit=8)[-TAIL:]}
    # Without a nonce it does not load.
    return (nonce or read(place)[0]["nonce"].encode()) + json.dumps(found).encode()


def read(place: int) -> tuple[dict[str, Any], bytes]:
    """The order of a call, and its data."""
    with os.fdopen(place, "rb") as file:
        return json.loads(file.readline()), file.read()


def load(folder: str, entry: str) -> Any:
    """The functions score, and prepare or None, of the program's module."""
    sys.path[:0] = [folder]
    seed_all(0)
    file, _, function = entry.partition(":")
    spec = importlib.util.spec_from_file_location("metric_program", f"{folder}/{file}")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["metric_program"] = module
    spec.loader.exec_module(module)
    score = getattr(module, function, None)
    if not callable(score):
        raise AttributeError(f"{file} has no function {function}")
    prepare = getattr(module, "prepare", None)
    return score, prepare if callable(prepare) else None


def result_of(program: Any, order: dict, data: bytes, files: str) -> Any:
    import numpy as np  # not at the top: what a program imports is told by what it adds to the loaded modules

    score, prepare = program
    with np.load(io.BytesIO(data), allow_pickle=False) as stored:
        arrays = {name: stored[name] for name in stored.files}
    params = order["params"]
    predictions = [item_of(f"{n}.prediction", one["prediction"], arrays, files) for n, one in enumerate(order["items"])]
    references = [item_of(f"{n}.reference", one["reference"], arrays, files) for n, one in enumerate(order["items"])]
    extra = []
    seed_all(params.get("seed", 0))
    if prepare is not None:
        prepared = [None if one is None else prepare(one, params) for one in references]
        if takes_prepared(score):
            extra = [prepared if order["level"] != "item" else prepared[0]]
        else:
            for one, found in zip(references, prepared, strict=True):
                if one is not None:
                    one.prepared = found
    seed_all(params.get("seed", 0))
    if order["level"] == "item":
        return score(predictions[0], references[0], params, *extra)
    return score(predictions, references, params, *extra)


def takes_prepared(score: Any) -> bool:
    """True if the function has a fourth parameter, which is what `prepare` returned."""
    try:
        known = inspect.signature(score).parameters.values()
    except (TypeError, ValueError):
        return False
    return sum(one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD) for one in known) >= 4


def item_of(prefix: str, described: Any, arrays: dict, files: str) -> Any:
    """One side of an item as the program sees it, with its file below the folder `files` if the program wants one; None if there is
    none."""
    if described is None:
        return None
    item = types.SimpleNamespace(**described["values"])
    for name in described["arrays"]:
        array = arrays.get(f"{prefix}.{name}")
        setattr(item, name, array)
    for name, count in described["lists"].items():
        setattr(item, name, [arrays[f"{prefix}.{name}.{n}"] for n in range(count)])
    if "file" in described:
        item.path = os.path.join(files, described["file"])
        os.makedirs(os.path.dirname(item.path))
        with open(item.path, "wb") as file:
            file.write(arrays[f"{prefix}.file"].tobytes())
    return item


def seed_all(seed: int) -> None:
    random.seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed % 2**32)
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "manual_seed"):
        torch.manual_seed(seed)


def plain(value: Any) -> Any:
    """Numbers of numpy and torch as plain ones; everything else is refused."""
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        found = value.item()
        if isinstance(found, (int, float)):
            return found
    raise TypeError(f"it returned a {type(value).__name__}, where a number or a dict of numbers is wanted")
