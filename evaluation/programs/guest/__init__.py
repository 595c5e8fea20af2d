"""The code of this service that runs inside a sandbox: a launcher, which makes a process for each call, and the code of that process.

It is bound into the sandbox as a separate folder and started by the interpreter alone. So it uses only the standard library, and numpy to
hand arrays to a program, and nothing else of this service.
"""

TAIL = 2_000  # characters of an error that are passed on
MAX_ANSWER = 1_000_000  # bytes of one call's answer
MAX_FILE_ANSWER = 16_000_000  # bytes of a script's output/scores.json
MAX_MESSAGE = 150_000  # bytes of a message to or from the launcher
WORK = "/work"
OUTPUT = f"{WORK}/output"
PROGRAM = "/program"
ROOM = "/call"  # where the launcher's file system has room to build that of a call
