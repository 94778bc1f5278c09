package io.dynamo.runtime.wiring;

import io.dynamo.concurrent.Cancellation;

/**
 * Tells when the process was asked to end (SIGTERM, SIGINT). Liberty waits for open requests first
 * and stops its applications only then, so that who waits for that learns of it too late to end a
 * long stream in good order.
 */
@FunctionalInterface
interface ShutdownSignal {
  /**
   * Runs {@code action} once, on a thread of its own that the process waits for, when it is asked
   * to end before the registration is closed. Does nothing when it was asked already.
   */
  Cancellation.Registration onSignal(Runnable action);

  /** That of this JVM. */
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
          // it runs; what it does is waited for by who stops the same
        }
      };
    };
  }
}
