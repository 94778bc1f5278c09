package io.dynamo.worker.engine.remote;

import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The load of a server with the requests of all its clients, for dialects of servers that report
 * it. Safe for concurrent use.
 */
public interface LoadSource {
  /**
   * The load of one rank as its server reports it.
   *
   * @param running requests that run
   * @param waiting requests that wait for room
   * @param cacheUsage the share of KV blocks that requests use, from 0 to 1
   * @param tokens tokens computed so far: figures that are not of the moment, but the last ones of
   *     a pass, mean nothing while neither these nor they change; null for figures of the moment
   */
  record ServerLoad(int running, int waiting, double cacheUsage, @Nullable Long tokens) {}

  /**
   * Asks for the load of all ranks, in the order of their numbers.
   *
   * @return empty when the server reports none
   * @throws IllegalArgumentException when the answer is not understood
   */
  List<ServerLoad> load(EngineHttp http) throws IOException, InterruptedException;
}
