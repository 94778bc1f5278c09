package io.dynamo.runtime.wiring;

import io.dynamo.config.Settings;
import io.dynamo.runtime.ClosingStack;
import io.dynamo.runtime.DynamoRuntime;

/** Opens the parts of a runtime. */
@FunctionalInterface
interface RuntimeOpener {
  /**
   * Opens the runtime that {@code settings} describe. Each part is pushed on {@code opened} as soon
   * as it exists, so that a failure half-way leaves nothing behind.
   */
  DynamoRuntime open(Settings settings, ClosingStack opened);
}
