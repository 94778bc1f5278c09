package io.dynamo.runtime.wiring;

import io.dynamo.concurrent.Cancellation;

/**
 * Reports that the process was asked to end (SIGTERM, SIGINT, SIGHUP). Liberty closes its ports
 * first and stops its applications only then, so that code waiting for the stop is called too late
 * to end a long stream properly, and to answer requests that come meanwhile.
 */
@FunctionalInterface
interface ShutdownSignal {
  /**
   * Runs {@code action} once, on another thread, when the process is asked to end before the
   * registration is closed; it ends only after that. Does nothing when it was already asked.
   */
  Cancellation.Registration onSignal(Runnable action);

  /**
   * Returns the signal of this JVM. Its end begins only when the action has run, so that the server
   * still answers meanwhile; where signals are not the JVM's to handle, both begin at once.
   */
  static ShutdownSignal ofJvm() {
    return JvmShutdown::register;
  }
}
