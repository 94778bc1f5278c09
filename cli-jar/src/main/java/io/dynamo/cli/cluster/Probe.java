package io.dynamo.cli.cluster;

import org.jspecify.annotations.Nullable;

/** Asks a process once, for a few seconds at most, whether it serves. */
@FunctionalInterface
interface Probe {
  /** Returns why it does not serve yet, or null when it does. */
  @Nullable String problem() throws InterruptedException;
}
