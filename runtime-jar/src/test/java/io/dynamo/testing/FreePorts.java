package io.dynamo.testing;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Ports for servers that keep theirs across restarts. They are below those that the kernel gives
 * away, so that no connection of another process takes one while its server is down.
 */
public final class FreePorts {
  /** The number of ports that a server which found one of its own taken may try. */
  public static final int ATTEMPTS = 10;

  private static final int FIRST = 18_000;
  private static final int END = 32_000;

  private FreePorts() {}

  /** Returns the first of {@code count} neighbouring ports that are free now. */
  public static int next(int count) {
    for (int i = 0; i < 100; i++) {
      int first = ThreadLocalRandom.current().nextInt(FIRST, END - count);
      if (areFree(first, count)) {
        return first;
      }
    }
    throw new IllegalStateException("no free ports between " + FIRST + " and " + END);
  }

  private static boolean areFree(int first, int count) {
    for (int port = first; port < first + count; port++) {
      try (var probe = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
        if (!probe.isBound()) {
          return false;
        }
      } catch (IOException taken) {
        return false;
      }
    }
    return true;
  }
}
