package io.dynamo.runtime.wiring;

import io.dynamo.concurrent.Cancellation;

/**
 * Reports that the process was asked to end (SIGTERM, SIGINT). Liberty waits for open requests
 * first and stops its applications only then, so that code waiting for the stop is called too late
 * to end a long stream properly.
 */
@FunctionalInterface
interface ShutdownSignal {
  /**
   * Runs {@code action} once, on a separate thread that the process waits for, when it is asked to
   * end before the registration is closed. Does nothing when it was already asked.
   */
  Cancellation.Registration onSignal(Runnable action);

  /** Returns the signal of this JVM. */
  static ShutdownSignal ofJvm() {
    return action -> {
      var hook = new Thread(action, "dynamo-shutdown");
      try {
        Runtime.getRuntime().addShutdownHook(hook);
      } catch (IllegalStateException ending) {
        return () -> {};
      }
      return () -> {
        try {
          Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException ending) {
          // the hook is running; other threads that stop the same roles wait for it
        }
      };
    };
  }
}
