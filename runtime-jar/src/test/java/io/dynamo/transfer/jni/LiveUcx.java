package io.dynamo.transfer.jni;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.dynamo.config.plane.UcxMode;
import io.dynamo.config.plane.UcxSettings;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * The UCX that NIXL's package brings, in the Python environment that {@code -Ddynamo.it.peer}
 * names; over TCP, since no test may count on a network card. Its tests are left out without it.
 */
final class LiveUcx {
  private LiveUcx() {}

  static UcxLibrary library() {
    assumeTrue(NixlPeer.isConfigured(), "left out: -Ddynamo.it.peer names no Python environment");
    try {
      return new UcxLibrary(new UcxSettings(UcxMode.ALWAYS, NixlPeer.packages()));
    } catch (IOException absent) {
      throw new UncheckedIOException(absent);
    }
  }
}
