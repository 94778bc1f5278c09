package io.dynamo.worker.engine.remote;

import java.net.URI;
import java.time.Duration;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * The address of an engine server, and the limits of calls to it.
 *
 * @param server its address: scheme, host and port
 * @param key the server's bearer key; null for none
 * @param tls how to trust an {@code https} server; null trusts as the JVM does
 * @param startTimeout how long a start waits for the server to have loaded its model
 * @param silence how long the server may send nothing while an answer is due
 * @param maxWaiting generations beyond those that the server runs at once; more are refused
 * @param modelPositions positions of the model according to its own files
 * @param vocabulary number of token ids of the model according to its own files
 * @param maxRanks data-parallel ranks that the worker has room for
 * @param streamBuffer items held per stream without demand
 */
public record RemoteConfig(
    URI server,
    @Nullable String key,
    @Nullable SSLContext tls,
    Duration startTimeout,
    Duration silence,
    int maxWaiting,
    int modelPositions,
    int vocabulary,
    int maxRanks,
    int streamBuffer) {
  public RemoteConfig {
    atLeast("maxWaiting", maxWaiting, 0);
    atLeast("modelPositions", modelPositions, 1);
    atLeast("vocabulary", vocabulary, 1);
    atLeast("maxRanks", maxRanks, 1);
    atLeast("streamBuffer", streamBuffer, 1);
    if (!startTimeout.isPositive() || !silence.isPositive()) {
      throw new IllegalArgumentException(
          "startTimeout %s and silence %s must be positive".formatted(startTimeout, silence));
    }
  }

  private static void atLeast(String what, int value, int bound) {
    if (value < bound) {
      throw new IllegalArgumentException("%s %d is below %d".formatted(what, value, bound));
    }
  }

  @Override
  public String toString() { // the key is not for logs
    return "RemoteConfig[server=%s]".formatted(server);
  }
}
