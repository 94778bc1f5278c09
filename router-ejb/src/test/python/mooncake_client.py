"""A client of Mooncake's store: `put KEY`, `remove KEY` and `clear` as lines of stdin, each answered by a line. Argument: the master's port."""

import sys

from mooncake.store import MooncakeDistributedStore

store = MooncakeDistributedStore()
setup = store.setup("127.0.0.1", "P2PHANDSHAKE", 64 << 20, 16 << 20, "tcp", "", f"127.0.0.1:{sys.argv[1]}")
print("READY" if setup == 0 else f"setup {setup}", flush=True)
for line in sys.stdin:
    what, *key = line.split()
    if what == "put":
        said = store.put(key[0], b"x" * 64)
    elif what == "remove":
        said = store.remove(key[0])
    else:
        said = store.remove_all()
    print(f"DONE {what} {said}", flush=True)
