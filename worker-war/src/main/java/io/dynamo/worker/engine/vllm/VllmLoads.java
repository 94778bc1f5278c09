package io.dynamo.worker.engine.vllm;

import io.dynamo.worker.engine.remote.EngineHttp;
import io.dynamo.worker.engine.remote.LoadSource.ServerLoad;
import io.dynamo.worker.engine.remote.RankFigures;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Reads the load of a vLLM server's ranks from its metrics. The gauges keep the values of the last
 * pass for up to 10 seconds.
 */
final class VllmLoads {
  private static final String RUNNING = "vllm:num_requests_running";
  private static final String WAITING = "vllm:num_requests_waiting";
  private static final String USAGE = "vllm:kv_cache_usage_perc";
  private static final String EARLIER_USAGE = "vllm:gpu_cache_usage_perc";
  private static final String PROMPT = "vllm:prompt_tokens_total";
  private static final String GENERATED = "vllm:generation_tokens_total";
  private static final Set<String> NAMES =
      Set.of(RUNNING, WAITING, USAGE, EARLIER_USAGE, PROMPT, GENERATED);

  private VllmLoads() {}

  /** Returns the load of each rank; empty when the metrics do not have it. */
  static List<ServerLoad> ask(EngineHttp http, int ranks) throws IOException, InterruptedException {
    var answer = http.scrape("/metrics");
    if (answer.statusCode() != 200) {
      throw new IOException("/metrics answers " + answer.statusCode());
    }
    var figures = RankFigures.read(answer.body(), "engine", ranks, NAMES);
    var loads = new ArrayList<ServerLoad>();
    if (figures.has(RUNNING) && figures.has(GENERATED)) {
      for (int rank = 0; rank < ranks; rank++) {
        loads.add(
            new ServerLoad(
                figures.count(RUNNING, rank),
                figures.count(WAITING, rank),
                Math.max(figures.value(USAGE, rank), figures.value(EARLIER_USAGE, rank)),
                (long) (figures.value(PROMPT, rank) + figures.value(GENERATED, rank))));
      }
    }
    return loads;
  }
}
