"""OBJ and JSON files that mean harm, or are broken as real ones are."""

import json
import os
from typing import Any

from tests.support.submissions.hostile.cases import GOOD, Cases

CASES = Cases()

# --- OBJ

CASES.files(r"house_01.obj: is empty", "house_01.obj", {"empty_obj": b"", "blank_obj": b" \n\n"})
CASES.files(
    r'house_01.obj: line 2: coordinate "(nan|-inf)" is not finite',
    "house_01.obj",
    {"obj_nan": b"v 0 0 0\nv 0 nan 0", "obj_inf": b"#\nv 0 0 -inf"},
)
CASES.files(r"line 1: has the coordinate 1e\+300, the limit", "house_01.obj", {"obj_1e300": b"v 0 1e300 0\nv 1 0 0\nl 1 2"})
CASES.files(r"line 1: has a coordinate that is not finite", "house_01.obj", {"obj_1e400": b"v 0 1e400 0\n"})
CASES.files(r"line 5: edge names vertex 90, there are 3", "house_01.obj", {"obj_index_too_large": GOOD + b"l 1 90\n"})
CASES.files(r"line 5: edge names vertex -4, only 3 are defined", "house_01.obj", {"obj_index_negative": GOOD + b"l 1 -4\n"})
CASES.files(r"line 5: edge names vertex 0, the first vertex is 1", "house_01.obj", {"obj_index_zero": GOOD + b"l 0 1\n"})
CASES.files(
    r"is not a vertex number", "house_01.obj", {"obj_huge_index": GOOD + b"l 1 1" + b"0" * 5000, "obj_fraction_index": GOOD + b"l 1 1.5"}
)
CASES.files(r"line 1: there are more than 100 edges", "house_01.obj", {"obj_huge_polyline": b"l" + b" 1" * 400_000})
CASES.files(r"line 101: there are more than 100 vertices", "house_01.obj", {"obj_many_vertices": b"v 0 0 0\n" * 5000})
CASES.files(r'line 1: begins with "A{60}', "house_01.obj", {"obj_very_long_line": b"A" * 900_000})
CASES.files(r"house_01.obj: is 5 MB, at most 1.06 MB", "house_01.obj", {"obj_too_many_bytes": os.urandom(2_500_000).hex().encode()})
CASES.files(
    r"is UTF-16 or UTF-32", "house_01.obj", {"obj_utf16": GOOD.decode().encode("utf-16"), "obj_utf32": GOOD.decode().encode("utf-32")}
)
CASES.files(r"line 1: holds a zero byte", "house_01.obj", {"obj_utf16_without_mark": GOOD.decode().encode("utf-16-le")})
CASES.files(r"line 3: holds a zero byte", "house_01.obj", {"obj_picture": b"\x89PNG\r\n\x1a\n" + bytes(100)})
CASES.files(r"line 1: vertex has 2 numbers", "house_01.obj", {"obj_two_numbers": b"v 1 2\n"})
CASES.files(r'line 1: coordinate "1,5" has a comma; write decimals with a point', "house_01.obj", {"obj_comma": b"v 1,5 2 3\n"})
CASES.files(r'line 1: coordinate "1_0" is not a number', "house_01.obj", {"obj_underscore": b"v 1_0 2 3\n"})
CASES.files(r"polyline has fewer than 2 vertices", "house_01.obj", {"obj_short_polyline": GOOD + b"l 1\n"})

# --- JSON


def json_of(vertices: Any = ((0, 0, 0), (1, 0, 0)), edges: Any = ((0, 1),), **more: Any) -> bytes:
    return json.dumps({"vertices": vertices, "edges": edges, **more}).encode()


CASES.files(r"nests lists or objects too deeply", "house_01.json", {"json_deep": b"[" * 90_000, "json_deep_objects": b'{"a":' * 90_000})
CASES.files(
    r"whole number of 5001 digits", "house_01.json", {"json_huge_integer": b'{"vertices":[[1' + b"0" * 5000 + b',0,0]],"edges":[]}'}
)
CASES.files(
    r"holds -?(NaN|Infinity); every number must be finite",
    "house_01.json",
    {"json_nan": json_of([[0, 0, float("nan")]]), "json_inf": json_of([[0, 0, float("-inf")]])},
)
CASES.files(
    r"vertices\[0\]: has a coordinate that is not finite", "house_01.json", {"json_1e999": b'{"vertices":[[1e999,0,0]],"edges":[]}'}
)
CASES.files(r"vertices\[0\]: has the coordinate 1e\+300", "house_01.json", {"json_1e300": b'{"vertices":[[1e300,0,0]],"edges":[]}'})
CASES.files(
    r"edges\[0\]: edge names vertex (-1|2), there are 2, counted from 0",
    "house_01.json",
    {"json_index_negative": json_of(edges=[[-1, 0]]), "json_index_too_large": json_of(edges=[[0, 2]])},
)
CASES.files(
    r"edges\[0\]: edge names vertex 0.5, which is not a whole number", "house_01.json", {"json_index_fraction": json_of(edges=[[0.5, 1]])}
)
CASES.files(r"vertices\[1\]: holds true where a number belongs", "house_01.json", {"json_boolean": json_of([[0, 0, 0], [True, 0, 0]])})
CASES.files(r'vertices\[0\]: holds the text "1" where', "house_01.json", {"json_string": json_of([["1", "2", "3"]])})
CASES.files(r"edges\[0\]: holds false where", "house_01.json", {"json_boolean_index": json_of(edges=[[False, True]])})
CASES.files(
    r"vertices\[0\]: (holds null|must be a list of 3 numbers)",
    "house_01.json",
    {"json_null": json_of([[None, 0, 0]]), "json_ragged": json_of([[0, 0]]), "json_flat": json_of([0, 1, 2])},
)
CASES.files(
    r'"vertices" must be a list',
    "house_01.json",
    {"json_object_of_vertices": json_of({"0": [0, 0, 0]}), "json_text_of_vertices": json_of("AAAA")},
)
CASES.files(
    r'must be an object with "vertices" and "edges"',
    "house_01.json",
    {"json_list": b"[1, 2]", "json_no_edges": b'{"vertices": []}', "json_number": b"7"},
)
CASES.files(r'the key "\\ud800" twice', "house_01.json", {"json_half_a_character": rb'{"\ud800": 1, "\ud800": 2}'})
CASES.files(r'the key "edges" twice', "house_01.json", {"json_key_twice": b'{"vertices":[],"edges":[],"edges":[]}'})
CASES.files(
    r"holds more than 101600 values", "house_01.json", {"json_many_values": b'{"vertices":[' + b"[]," * 300_000 + b'[]],"edges":[]}'}
)
CASES.files(r"has 101 vertices, at most 100", "house_01.json", {"json_many_vertices": json_of([[0, 0, 0]] * 101)})
CASES.files(r"line 1 column \d+: is not JSON", "house_01.json", {"json_cut_short": json_of()[:-5], "json_python": b"{'vertices': []}"})
CASES.files(r"edge_score: has 3 values, there are 1 edges", "house_01.json", {"json_scores_too_many": json_of(edge_score=[1, 2, 3])})
CASES.files(
    r"edge_score\[0\]: is not finite", "house_01.json", {"json_score_infinite": json_of(edge_score=[0]).replace(b"[0]}", b"[1e999]}")}
)
CASES.files(r"UTF-16", "house_01.json", {"json_utf16": json_of().decode().encode("utf-16")})
