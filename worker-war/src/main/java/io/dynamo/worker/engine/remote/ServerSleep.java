package io.dynamo.worker.engine.remote;

import java.io.IOException;

/**
 * Sleep of a server whose process stays, for dialects of servers that can; such a dialect wakes the
 * server in {@link Dialect#ask}.
 */
public interface ServerSleep {
  /**
   * Makes the server release its KV blocks; called when this worker has no generation there.
   *
   * @param weightsToo whether it releases its weights as well
   * @throws IllegalStateException when the server refuses; the message says why
   */
  void sleep(EngineHttp http, boolean weightsToo) throws IOException, InterruptedException;
}
