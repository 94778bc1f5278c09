package io.dynamo.arch.planted.kv;

import org.zeromq.ZMQ;

/** ZeroMQ's library, which is for tests alone. */
public record OpensASocket(ZMQ.Socket socket) {}
