package io.dynamo.worker.engine;

import io.dynamo.pipeline.EventLoops;

/**
 * Event loops for all tests of a JVM. Never closed: closing takes seconds, and they are daemons.
 */
public final class SharedLoops {
  public static final EventLoops LOOPS = new EventLoops(2);

  private SharedLoops() {}
}
