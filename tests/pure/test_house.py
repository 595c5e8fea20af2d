"""The rules that keep the code one house: directions of imports, purity, emptiness of packages."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from pathlib import Path

import pytest

from tests import ROOT
from tests.conftest import need
from tests.support.source_tree import LOADED_ON_FIRST_USE, mirrors, nodes

ROOMS = ("submissions", "evaluation", "leaderboard")  # each may import itself and what stands before it
PURE = (
    "submissions/entry_fields.py",
    "submissions/entry_states.py",
    "submissions/kinds.py",
    "submissions/manifest.py",
    "submissions/format_time.py",
    "submissions/validation.py",
    "submissions/latex.py",
    "submissions/markdown.py",
    "submissions/wording.py",
    "submissions/formats",
    "submissions/client",
    "evaluation/__main__.py",
    "evaluation/kinds.py",
    "evaluation/library_versions.py",
    "evaluation/local.py",
    "evaluation/reference_warnings.py",
    "evaluation/result_tables.py",
    "evaluation/score_options.py",
    "evaluation/images",
    "evaluation/metrics",
    "evaluation/networks",
    "evaluation/programs",
    "evaluation/properties",
    "evaluation/rendering",
    "evaluation/synthetic",
    "evaluation/training",
    "evaluation/work/child.py",
    "evaluation/work/hostile_results.py",
    "evaluation/work/limited.py",
    "evaluation/work/remote_worker_client.py",
    "evaluation/work/parent_death.py",
    "leaderboard/kinds.py",
    "leaderboard/bundle/parse_time.py",
    "leaderboard/evidence/by_hand.py",
    "leaderboard/evidence/canonical.py",
    "leaderboard/evidence/catalogue.py",
    "leaderboard/evidence/manifest.py",
    "leaderboard/evidence/raw.py",
    "leaderboard/evidence/reading.py",
    "leaderboard/evidence/record_file.py",
    "leaderboard/evidence/recording.py",
    "leaderboard/evidence/shown.py",
    "leaderboard/evidence/tables.py",
    "leaderboard/evidence/text_rules.py",
    "leaderboard/package",
    "leaderboard/records",
    "leaderboard/stats",
    "leaderboard/exports/tables",
    "leaderboard/charts/boards.py",
    "leaderboard/charts/judges.py",
    "leaderboard/charts/plotly.py",
    "leaderboard/charts/ranking_variants.py",
    "leaderboard/charts/studies.py",
    "leaderboard/charts/svg.py",
    "leaderboard/studies/judge/client.py",
    "leaderboard/studies/judge/images.py",
    "leaderboard/studies/judge/instructions.py",
    "leaderboard/studies/judge/prompts.py",
    "leaderboard/studies/judge/schedule.py",
    "leaderboard/studies/live/question_choice.py",
    "leaderboard/viewer/mesh_lod.py",
    "leaderboard/viewer/mesh_scene.py",
    "leaderboard/viewer/svg.py",
    "leaderboard/viewer/wireframe_scene.py",
    "leaderboard/wording",
)
IMPURE = {"django", "celery", "kombu", "redis", "boto3", "botocore", "environs"}
# That is what they are for.
MAY_USE_THE_NETWORK = {
    "submissions/client/command.py",
    "submissions/client/transfer.py",
    "evaluation/work/remote_worker_client.py",
    "evaluation/networks/fetching.py",
    "leaderboard/studies/judge/client.py",
}
NETWORK = {"httpx", "requests", "urllib3", "socket"}
# They hand descriptors of files over in pairs of sockets that have no address.
MAY_USE_SOCKETS = {"evaluation/programs/sandbox.py", "evaluation/programs/guest/launcher.py"}
# It lies alone in a sandbox, under another name, so its modules import one another relatively.
GUEST = "evaluation.programs.guest"


@cache
def imports(path: Path) -> tuple[str, ...]:
    """Dotted names imported anywhere in the file, inside functions too."""
    return tuple(name for node in nodes(path) for name in names_of(node, path))


def names_of(node: ast.AST, path: Path) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        package = ".".join(path.relative_to(ROOT).parent.parts)
        assert node.level == 0 or (node.level == 1 and package == GUEST), f"{path}, line {node.lineno}: a relative import"
        module = ".".join(filter(None, [package, node.module])) if node.level else node.module
        yield from (f"{module}.{alias.name}" for alias in node.names)


def files(*parts: str) -> Iterator[Path]:
    for part in parts:
        path = ROOT / part
        yield from [path] if path.is_file() else path.rglob("*.py")


def test_lower_rooms_never_import_upper_ones():
    for n, room in enumerate(ROOMS):
        for path in files(room):
            for name in imports(path):
                assert name.split(".")[0] not in ROOMS[n + 1 :], f"{path} imports {name}"


SHOWING = re.compile(r"^(submissions|evaluation|leaderboard)\.(wording|boards|views|charts|viewer|templatetags|api|console)\b")


def test_models_and_records_import_nothing_that_shows():
    """A record stands below the sentences about it, and a model is stored without them."""
    for path in files("submissions/models", "submissions/leases.py", "evaluation/models", "leaderboard/models", "leaderboard/records"):
        for name in imports(path):
            assert not SHOWING.match(name), f"{path.relative_to(ROOT)} imports {name}"


def test_what_computes_and_assembles_figures_says_nothing():
    """The command of the statistics says what it writes."""
    for path in files("leaderboard/stats", "leaderboard/boards"):
        if path.name != "__main__.py":
            assert not [name for name in imports(path) if ".wording" in name], path.relative_to(ROOT)


def test_records_stand_at_the_bottom():
    """They import what is computed, and one another."""
    for path in files("leaderboard/records"):
        for name in imports(path):
            room, *rest = name.split(".")
            assert room not in ROOMS or (room == "leaderboard" and rest[0] in ("stats", "records")), (
                f"{path.relative_to(ROOT)} imports {name}"
            )


def graph(*rooms: str, typed: bool = False) -> dict[str, set[str]]:
    """Every module of the rooms but the migrations, and the modules among them that it loads, inside functions too.

    Whoever imports a module of a package from outside loads the package itself; what only a type checker reads is not loaded, and counts
    only where `typed` is true.
    """
    paths = {path: ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in files(*rooms)}
    modules = {name: path for path, name in paths.items() if "migrations" not in path.parts}
    found = {}
    for module, path in modules.items():
        guarded = [node for node in nodes(path) if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")]
        guarded = [] if typed else guarded
        unread = {id(inner) for node in guarded for inner in ast.walk(node)}
        names = [name for node in nodes(path) if id(node) not in unread for name in names_of(node, path)]
        parents = [".".join(name.split(".")[:depth]) for name in names for depth in range(1, name.count(".") + 1)]
        outside = [name for name in parents if not module.startswith(f"{name}.")]
        found[module] = {name for name in [*names, *outside] if name in modules and name != module}
    return found


def circles(loads: dict[str, set[str]]) -> list[list[str]]:
    """The sets of modules each of which leads to each other one (Tarjan's strongly connected components of more than one)."""
    number, low, stack, found = {}, {}, [], []

    def visit(module: str) -> None:
        number[module] = low[module] = len(number)
        stack.append(module)
        for other in loads[module]:
            if other not in number:
                visit(other)
                low[module] = min(low[module], low[other])
            elif other in stack:
                low[module] = min(low[module], number[other])
        if low[module] == number[module]:
            at = stack.index(module)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for module in loads:
        if module not in number:
            visit(module)
    return found


@pytest.mark.parametrize("typed", [False, True])
def test_no_modules_import_one_another_in_a_circle(typed):
    """Nor do they for their types alone, hidden behind TYPE_CHECKING."""
    assert circles(graph(*ROOMS, typed=typed)) == []


def test_a_circle_is_found_through_a_third_module():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}, "e": set()}) == [["a", "b", "c"]]


def test_pure_folders_use_no_framework_no_queue_no_network():
    for path in files(*PURE):
        where = path.relative_to(ROOT).as_posix()
        forbidden = IMPURE if where in MAY_USE_THE_NETWORK else IMPURE | NETWORK - ({"socket"} if where in MAY_USE_SOCKETS else set())
        for name in imports(path):
            assert name.split(".")[0] not in forbidden, f"{where} imports {name}"
            room, *rest = name.split(".")
            if room in ROOMS and rest:
                target = "/".join([room, *rest])
                assert any(target.startswith(pure.removesuffix(".py")) for pure in PURE), f"{where} imports {name}, which is not pure"


def import_blocks(tree: ast.AST, local: bool = False) -> Iterator[tuple[bool, list[ast.Import | ast.ImportFrom]]]:
    """Imports that follow one another, and whether they are in a function; without those that only a type checker reads."""
    local |= isinstance(tree, ast.FunctionDef | ast.AsyncFunctionDef)
    for _, body in ast.iter_fields(tree):
        inner = [node for node in body if isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case)] if isinstance(body, list) else []
        for imports, group in groupby(inner, lambda node: isinstance(node, ast.Import | ast.ImportFrom)):
            if imports:
                yield local, list(group)
                continue
            for node in group:
                if not (isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")):
                    yield from import_blocks(node, local)


@cache
def slow_library(name: str) -> tuple[str, ...]:
    return tuple(slow for slow in LOADED_ON_FIRST_USE if f"{name}.".startswith(f"{slow}."))


def slow_libraries(names: set[str], known: dict[str, set[str]]) -> set[str]:
    """The slow libraries that importing these names loads; `known` has those of the modules."""
    modules = {module for name in names for module in (name, name.rpartition(".")[0])}
    return {slow for name in names for slow in slow_library(name)}.union(*(known.get(module, ()) for module in modules))


def unexplained(lines: list[str], tree: ast.AST, path: Path, known: dict[str, set[str]]) -> list[int]:
    """Lines with a local import that loads no slow library, or only those that the file loads anyway, and whose reason no comment gives:
    on its line, or above its block."""
    found, blocks = [], list(import_blocks(tree))
    loaded = slow_libraries({name for local, block in blocks if not local for node in block for name in names_of(node, path)}, known)
    for block in (block for local, block in blocks if local and not lines[block[0].lineno - 2].strip().startswith("#")):
        for node in block:
            comment = " ".join(lines[node.lineno - 1 : node.end_lineno]).partition("#")[2]
            if not re.sub(r"noqa: \w+|type: ignore\S*|[# ]", "", comment) and not slow_libraries({*names_of(node, path)}, known) - loaded:
                found.append(node.lineno)
    return found


def test_imports_in_functions_load_a_slow_library_or_give_their_reason():
    modules = {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in files(*ROOMS)}
    trees = {path: nodes(path)[0] for path in modules.values()}
    loads = {
        module: {name for local, block in import_blocks(trees[path]) if not local for node in block for name in names_of(node, path)}
        for module, path in modules.items()
    }
    known, before = {}, None
    while known != before:
        before, known = known, {module: slow_libraries(names, known) for module, names in loads.items()}
    found = {path: unexplained(path.read_text().splitlines(), tree, path, known) for path, tree in trees.items()}
    assert [f"{path.relative_to(ROOT)}:{line}" for path, places in found.items() for line in places] == []


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("    import torch", []),
        ("    import json", [3]),
        ("    import json  # noqa: F401", [3]),
        ("    import json  # its start sets the clock", []),
        ("    # Both need the settings.\n    import json\n\n    from json import loads", []),
        ("    from slow.module import name", []),
        ("    import json  # its start sets the clock\n    from json import loads", [4]),
        ("    from scipy.spatial import cKDTree", [3]),  # which the file loads anyway
        ("    try:\n        import json\n    except ValueError:\n        import torch", [4]),
    ],
)
def test_an_import_in_a_function_without_a_reason_is_found(body, lines):
    source = f"import scipy.spatial\ndef function():\n{body}\n"
    path, known = ROOT / "leaderboard" / "example.py", {"slow.module": {"torch"}}
    assert unexplained(source.splitlines(), ast.parse(source), path, known) == lines


NOUNS = re.compile(r"\b(Challenge|Phase|Submission|Team|Study)\b|\.(phases|submissions|teams|studies)\b")


def test_what_a_request_points_to_is_looked_up_in_one_place():
    for path in files("submissions", "leaderboard"):
        for node in nodes(path):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "get_object_or_404" and path.name != "lookup.py":
                assert not NOUNS.search(ast.unparse(node.args[0])), f"{path}, line {node.lineno}: ask lookup.py for it"


QUESTION = re.compile(r'"""\s*(What|Whether|How|Where|Why|Who|Which|When|Of)\b')


def test_docstrings_begin_with_a_noun_or_a_verb():
    for path in files(*ROOMS, "tests", "deploy", "manage.py"):
        where, text = path.relative_to(ROOT).as_posix(), path.read_text()
        found = QUESTION.search(text)
        assert not found, f"{where}, line {text[: found.start()].count(chr(10)) + 1}: “{found[1]} …” is no noun or verb"


def test_the_packages_themselves_import_nothing():
    for path in ROOT.glob("*/__init__.py"):
        if path.parent.name in ROOMS:
            assert path.read_text().strip() == "", f"{path} must stay empty, or importing a pure folder loads Django"


def test_a_benchmark_sets_its_settings_before_it_imports_what_reads_them():
    early = []
    for path in sorted((ROOT / "tests" / "benchmarks").glob("*.py")):
        if "DJANGO_SETTINGS_MODULE" not in path.read_text():
            continue
        tree = ast.parse(path.read_text())
        set_up = next(node.lineno for node in tree.body if "django.setup()" in ast.unparse(node))
        early += [
            f"{path.name}:{node.lineno}"
            for node in tree.body
            if node.lineno < set_up and any(name.split(".")[0] in ROOMS for name in names_of(node, path))
        ]
    assert early == []


LONG = {  # functions of more branches; the docstring of each gives the reason
    "leaderboard/evidence/manifest.py:check",
    "leaderboard/evidence/manifest.py:_faults",
    "leaderboard/stats/evidence/analysis.py:figures",
    "leaderboard/studies/screening_effects.py:effects",
    "leaderboard/studies/size_control.py:sizes_of",
    "leaderboard/views/entries.py:entries",
    "leaderboard/views/studies.py:study",
    "leaderboard/views/studies.py:_analysis_context",
}


def branches(function: ast.AST) -> int:
    """The ways through a function, one more than its decisions; conditional expressions and conditions of comprehensions count."""
    one = (ast.If, ast.IfExp, ast.For, ast.While, ast.ExceptHandler, ast.match_case, ast.Assert, ast.comprehension)
    found = 1
    for node in ast.walk(function):
        found += isinstance(node, one)
        found += len(node.ifs) if isinstance(node, ast.comprehension) else 0
        found += len(node.values) - 1 if isinstance(node, ast.BoolOp) else 0
    return found


def test_no_other_function_has_more_than_twenty_branches():
    functions = ((path, node) for path in files(*ROOMS) for node in nodes(path) if isinstance(node, ast.FunctionDef))
    assert {f"{path.relative_to(ROOT)}:{node.name}" for path, node in functions if branches(node) > 20} == LONG


def test_the_top_level_holds_what_the_layout_names():
    import subprocess

    need("git")
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    names = {name.split("/")[0] for name in tracked}
    assert {name for name in names if not name.startswith(".")} <= {
        "manage.py",
        "leaderboard",
        "evaluation",
        "submissions",
        "tests",
        "deploy",
        "requirements.txt",
        "README.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "Makefile",
        "pyproject.toml",
        "LICENSE",
    }


COMPARING = {"startswith", "endswith", "removeprefix", "removesuffix", "partition", "rpartition", "split", "replace", "find", "index"}


def is_sentence(node: ast.AST, constants: set[str]) -> bool:
    """True for text in words: a literal or constant of three words or more, what `wording` makes of a reason, and what is called `why`."""
    match node:
        case ast.Constant(value=str(text)):
            return len(text.split()) > 2
        case ast.JoinedStr():
            return len("".join(part.value for part in node.values if isinstance(part, ast.Constant)).split()) > 2
        case ast.Name(id=name) if name.isupper():
            return name in constants
        case ast.Attribute(attr=name) | ast.Subscript(slice=ast.Constant(value=str(name))):
            return name == "why" or name.endswith("_why")
        case ast.Call(func=ast.Name(id="sentence" | "clause")):
            return True
    return False


def sentences_compared(path: Path, constants: set[str]) -> Iterator[int]:
    """Lines on which a sentence is compared, or searched, cut or rewritten."""
    for node in nodes(path):
        match node:
            case ast.Compare():
                found = any(is_sentence(one, constants) for one in (node.left, *node.comparators))
            case ast.Call(func=ast.Attribute(attr=name, value=value), args=args) if name in COMPARING:
                found = any(is_sentence(one, constants) for one in (value, *args) if not isinstance(one, ast.Constant | ast.JoinedStr))
                found |= name in ("startswith", "endswith", "removeprefix") and any(is_sentence(one, constants) for one in args)
            case _:
                continue
        if found:
            yield node.lineno


# Stored in rankings as words: the name of an entry that is withheld, and the state of one that waits.
STORED_AS_WORDS = {"HIDDEN_NAME", "WAITING"}


def test_nothing_compares_cuts_or_rewrites_a_sentence():
    """State and reason, which are data, decide whether a figure is shown."""
    paths = [path for path in files("leaderboard") if "migrations" not in path.parts]
    own = {}
    for path in paths:
        given = [node for node in nodes(path) if isinstance(node, ast.Assign) and is_sentence(node.value, set())]
        names = {target.id for node in given for target in node.targets if isinstance(target, ast.Name)} - STORED_AS_WORDS
        own[".".join(path.relative_to(ROOT).with_suffix("").parts)] = names
    found = []
    for path in paths:
        named = set(own[".".join(path.relative_to(ROOT).with_suffix("").parts)])
        for name in imports(path):
            module, _, constant = name.rpartition(".")
            named |= {constant} & own.get(module, set())
        found += [f"{path.relative_to(ROOT)}:{line}" for line in sentences_compared(path, named)]
    assert found == []


def test_no_template_decides_by_a_sentence():
    for path in ROOT.glob("leaderboard/templates/leaderboard/**/*.html"):
        found = re.search(r"{%\s*(?:el)?if\b[^%]*\.\w*why\b[^%]*%}", path.read_text())
        assert not found, f"{path.relative_to(ROOT)}: {found[0]} asks for words; ask for the reason"


def asserted(test: ast.expr) -> Iterator[ast.expr]:
    """The facts that an assert joins by `and`."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        for part in test.values:
            yield from asserted(part)
    else:
        yield test


def test_what_is_said_of_each_is_asserted_with_its_value_and_place():
    """`assert [x for x in found if wrong(x)] == []` names what is wrong where `assert all(…)` over a generator says False."""
    found = []
    for path in files("tests"):
        if not re.search(r"\b(all|any)\(", path.read_text()):
            continue
        for fact in (fact for node in nodes(path) if isinstance(node, ast.Assert) for fact in asserted(node.test)):
            call, name = (fact.operand, "any") if isinstance(fact, ast.UnaryOp) and isinstance(fact.op, ast.Not) else (fact, "all")
            if isinstance(call, ast.Call) and ast.unparse(call.func) == name and isinstance(call.args[0], ast.GeneratorExp):
                found.append(f"{path.relative_to(ROOT)}:{fact.lineno}")
    assert found == []


LEVELS = ("pure", "service", "cluster", "browser", "nightly")
# What a pure test is called after, where it is about several modules.
ACROSS = (
    {"invariance", "invariants", "machines", "batches", "gpu", "separation", "escapes", "wrong_kind", "cases", "start", "real_votes"}
    | {"opinion_study", "documented", "wheel", "examples", "wrong_files", "published_sets", "same_by_hand", "shipped", "scoring_groups"}
    | {"main", "command"}
)  # of __main__.py


def test_tests_mirror_the_source():
    """The folder of each is one of the source; below tests/pure, its name is that of a module or folder there."""
    tests = [path for level in LEVELS for path in files(f"tests/{level}") if path.name.startswith("test_")]
    assert len(tests) > 400
    folders = {path.parent.relative_to(ROOT / "tests" / path.relative_to(ROOT).parts[1]) for path in tests}
    assert [str(folder) for folder in sorted(folders) if not (ROOT / folder).is_dir()] == []
    pure = [path for path in tests if path.relative_to(ROOT).parts[1] == "pure" and len(path.relative_to(ROOT).parts) > 3]
    assert [path for path in pure if not mirrors(path) and path.stem.removeprefix("test_") not in ACROSS] == []
