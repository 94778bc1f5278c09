package io.dynamo.worker.engine.llamacpp;

import java.net.URI;
import java.time.Duration;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * The address of llama.cpp's server, its timeouts and sizes.
 *
 * @param server its address: scheme, host and port
 * @param key the server's bearer key; null for none
 * @param tls how to trust an {@code https} server; null trusts as the JVM does
 * @param startTimeout how long a start waits for the server to have loaded its model
 * @param silence how long the server may send nothing while an answer is due
 * @param maxWaiting generations that wait for a slot of the server; more are refused
 * @param modelPositions positions of the model according to its own files
 * @param blockTokens the block size for the model card
 * @param streamBuffer tokens held per stream without demand
 */
public record LlamaCppConfig(
    URI server,
    @Nullable String key,
    @Nullable SSLContext tls,
    Duration startTimeout,
    Duration silence,
    int maxWaiting,
    int modelPositions,
    int blockTokens,
    int streamBuffer) {
  public LlamaCppConfig {
    atLeast("maxWaiting", maxWaiting, 0);
    atLeast("modelPositions", modelPositions, 1);
    atLeast("blockTokens", blockTokens, 1);
    atLeast("streamBuffer", streamBuffer, 1);
    if (!startTimeout.isPositive() || !silence.isPositive()) {
      throw new IllegalArgumentException(
          "startTimeout %s and silence %s must be positive".formatted(startTimeout, silence));
    }
  }

  @Override
  public String toString() { // the key is not for logs
    return "LlamaCppConfig[server=%s]".formatted(server);
  }

  private static void atLeast(String what, int value, int bound) {
    if (value < bound) {
      throw new IllegalArgumentException("%s %d is below %d".formatted(what, value, bound));
    }
  }
}
