package io.dynamo.arch.planted.kv;

import org.zeromq.ZMQ;

/** ZeroMQ outside its package. */
public record OpensASocket(ZMQ.Socket socket) {}
