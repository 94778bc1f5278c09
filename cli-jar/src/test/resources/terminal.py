"""Runs a command in a pseudo-terminal: terminal.py <steps as JSON> <command> <arguments>.

A step is a text to wait for and what is typed then. Prints what the terminal showed; ends with the command's status.
"""

import json
import os
import pty
import select
import signal
import sys
import time

steps, command = json.loads(sys.argv[1])["steps"], sys.argv[2:]
child, terminal = pty.fork()
if child == 0:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell without a terminal may have its children ignore it
    os.execvp(command[0], command)

until = time.monotonic() + 90
shown = b""


def read():
    """Reads once, and returns whether the terminal is still open."""
    global shown
    left = until - time.monotonic()
    if left <= 0:
        os.kill(child, signal.SIGKILL)
        sys.exit(f"out of time, shown: {shown.decode(errors='replace')}")
    if select.select([terminal], [], [], left)[0]:
        try:
            part = os.read(terminal, 4096)
        except OSError:  # the command has ended
            part = b""
        shown += part
        return bool(part)
    return True


position = 0
for wanted, typed in steps:
    while (found := shown.find(wanted.encode(), position)) < 0:
        if not read():
            sys.exit(f"no {wanted!r} in {shown[position:].decode(errors='replace')!r}")
    position = found + len(wanted.encode())
    os.write(terminal, typed.encode())
while read():
    pass
print(shown.decode())
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) % 256)
