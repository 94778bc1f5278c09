package io.dynamo.it;

import org.jspecify.annotations.Nullable;

/**
 * A server of all roles with the simulated engine and no other setting, for the classes that want
 * just that, change no state of the server and count nothing that others add to. Starts when the
 * first of them asks and ends with the JVM of the tests.
 */
final class SharedServer {
  private static @Nullable ServerProcess server;

  private SharedServer() {}

  /** The server, ready; nobody closes it. */
  static synchronized ServerProcess get() {
    var running = server;
    if (running == null) {
      running = ServerProcess.Plan.named("shared").start();
      Runtime.getRuntime().addShutdownHook(new Thread(running::kill));
      running.awaitReady();
      server = running;
    }
    return running;
  }
}
