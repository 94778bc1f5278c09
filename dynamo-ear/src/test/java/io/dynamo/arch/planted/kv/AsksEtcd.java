package io.dynamo.arch.planted.kv;

import io.etcd.jetcd.Client;

/** Etcd's client, which only one package of discovery may use. */
public record AsksEtcd(Client client) {}
