package io.dynamo.arch.planted.kv;

import io.nats.client.Options;

/** Opens a connection that belongs to the packages named for NATS. */
final class PublishesToNats {
  Options options() {
    return new Options.Builder().build();
  }
}
