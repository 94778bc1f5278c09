package io.dynamo.arch.planted.kv;

import io.grpc.Channel;

/** gRPC, which only the package beside etcd's client may use. */
public record CallsOverGrpc(Channel channel) {}
