"""Serves a GGUF file with llama.cpp's own server, until standard input ends.  usage: llama_server.py FILE SLOTS [PORT [KEEP [POOLING]]]

Keys and values are kept in fp32, as the reference computed. Prints the server's address when it is ready.
With KEEP it serves until a signal ends it; "-" is none. With POOLING, last or mean, it embeds and does not generate.
"""

import os
import signal
import sys

import xllamacpp


def main(model, slots, port="0", keep="-", pooling=None):
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.hostnames = ["127.0.0.1"]
    params.port = int(port)
    params.n_parallel = int(slots)
    params.n_ctx = 4096 * params.n_parallel
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.warmup = False
    params.endpoint_metrics = True
    params.cache_type_k = params.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
    if pooling:
        params.embedding = True
        params.n_batch = params.n_ubatch = 4096  # a prompt must fit into one batch
        params.pooling_type = getattr(xllamacpp.llama_pooling_type, "LLAMA_POOLING_TYPE_" + pooling.upper())
    server = xllamacpp.Server(params)
    # at once and on a line of its own: the server's log goes to the same file
    os.write(1, f"\nready {server.listening_address}\n".encode())
    signal.pause() if keep != "-" else sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
