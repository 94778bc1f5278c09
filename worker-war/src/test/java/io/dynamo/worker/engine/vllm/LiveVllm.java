package io.dynamo.worker.engine.vllm;

import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.dynamo.worker.engine.SharedLoops;
import io.dynamo.worker.engine.remote.RemoteConfig;
import io.dynamo.worker.engine.remote.RemoteEngine;
import io.dynamo.worker.engine.remote.RemoteEvents;
import io.dynamo.worker.engine.remote.RemoteWishes;
import java.net.URI;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The server that {@code -Ddynamo.it.vllm} names: a real vLLM with the model that ships along. */
final class LiveVllm {
  private LiveVllm() {}

  static URI address() {
    return address("dynamo.it.vllm");
  }

  /** Returns the address that a property names; a test without it is left out. */
  static URI address(String property) {
    var address = System.getProperty(property, "");
    assumeFalse(address.isEmpty(), "left out: -D" + property + " names no vLLM server");
    return URI.create(address);
  }

  static RemoteEngine engine() {
    return engine(address(), 1, null);
  }

  static RemoteEngine engine(URI at, int maxRanks, @Nullable RemoteEvents events) {
    return new RemoteEngine(
        SharedLoops.LOOPS,
        new RemoteConfig(
            at,
            null,
            null,
            Duration.ofMinutes(2),
            Duration.ofMinutes(1),
            64,
            4096,
            4096,
            maxRanks,
            8),
        new VllmDialect(new RemoteWishes(null, null, null, null, 16, 4096)),
        events);
  }
}
