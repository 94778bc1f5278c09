package io.dynamo.worker.engine.vllm;

import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.dynamo.worker.engine.SharedLoops;
import io.dynamo.worker.engine.remote.RemoteConfig;
import io.dynamo.worker.engine.remote.RemoteEngine;
import io.dynamo.worker.engine.remote.RemoteWishes;
import java.net.URI;
import java.time.Duration;

/** The server that {@code -Ddynamo.it.vllm} names: a real vLLM with the model that ships along. */
final class LiveVllm {
  private LiveVllm() {}

  static URI address() {
    var address = System.getProperty("dynamo.it.vllm", "");
    assumeFalse(address.isEmpty(), "left out: -Ddynamo.it.vllm names no vLLM server");
    return URI.create(address);
  }

  static RemoteEngine engine() {
    return new RemoteEngine(
        SharedLoops.LOOPS,
        new RemoteConfig(
            address(),
            null,
            null,
            Duration.ofMinutes(2),
            Duration.ofMinutes(1),
            64,
            4096,
            4096,
            1,
            8),
        new VllmDialect(new RemoteWishes(null, null, null, null, 16, 4096)),
        null);
  }
}
