"""Colour profiles for tests, put together by hand."""

import struct

import numpy as np

D50_OF_SRGB = ((0.4360, 0.2225, 0.0139), (0.3851, 0.7169, 0.0971), (0.1431, 0.0606, 0.7141))
D50_OF_P3 = ((0.5151, 0.2412, -0.0011), (0.2919, 0.6922, 0.0419), (0.1572, 0.0666, 0.7841))
SRGB_CURVE = np.where(np.arange(1024) / 1023 <= 0.04045, np.arange(1024) / 1023 / 12.92, ((np.arange(1024) / 1023 + 0.055) / 1.055) ** 2.4)


def gamma_profile(gamma: float | np.ndarray, name: bytes = b"power", primaries=D50_OF_SRGB, space: bytes = b"RGB ") -> bytes:
    """A display profile with these primaries and a pure power, or a table, as its tone curve, put together by hand."""

    def fixed(value: float) -> bytes:
        return struct.pack(">i", round(value * 65536))

    def xyz(x: float, y: float, z: float) -> bytes:
        return b"XYZ " + bytes(4) + fixed(x) + fixed(y) + fixed(z)

    curve = (
        b"curv"
        + bytes(4)
        + (
            struct.pack(">IH", 1, round(gamma * 256)) + bytes(2)
            if isinstance(gamma, float)
            else struct.pack(">I", len(gamma)) + np.rint(gamma * 65535).astype(">u2").tobytes()
        )
    )
    text = b"desc" + bytes(4) + struct.pack(">I", len(name) + 1) + name + bytes(79)
    tags = {b"desc": text, b"wtpt": xyz(0.9642, 1, 0.8249)}
    if space == b"GRAY":
        tags[b"kTRC"] = curve
    else:
        tags |= {tag + b"XYZ": xyz(*primary) for tag, primary in zip((b"r", b"g", b"b"), primaries, strict=True)}
        tags |= {b"rTRC": curve, b"gTRC": curve, b"bTRC": curve}
    table, body, at = struct.pack(">I", len(tags)), b"", 128 + 4 + 12 * len(tags)
    for name, data in tags.items():
        data += bytes(-len(data) % 4)
        table += name + struct.pack(">II", at + len(body), len(data))
        body += data
    head = struct.pack(">I4sI4s4s4s", at + len(body), b"lcms", 0x02400000, b"mntr", space, b"XYZ ") + bytes(12) + b"acsp" + bytes(28)
    head += fixed(0.9642) + fixed(1) + fixed(0.8249)
    return head + bytes(128 - len(head)) + table + body
