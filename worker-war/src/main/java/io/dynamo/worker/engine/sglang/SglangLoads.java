package io.dynamo.worker.engine.sglang;

import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import io.dynamo.worker.engine.remote.EngineHttp;
import io.dynamo.worker.engine.remote.LoadSource.ServerLoad;
import io.dynamo.worker.engine.remote.RankFigures;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Reads the load of an SGLang server's ranks: from {@code /v1/loads}, which has the figures of the
 * moment, else from its metrics, which have those of the last report.
 */
final class SglangLoads {
  private static final String LOADS = "/v1/loads";
  private static final String RUNNING = "sglang:num_running_reqs";
  private static final String WAITING = "sglang:num_queue_reqs";
  private static final String USAGE = "sglang:token_usage";
  private static final String PROMPT = "sglang:prompt_tokens_total";
  private static final String GENERATED = "sglang:generation_tokens_total";
  private static final Set<String> NAMES = Set.of(RUNNING, WAITING, USAGE, PROMPT, GENERATED);

  private SglangLoads() {}

  /** Returns the load of each rank; empty when the server does not give it. */
  static List<ServerLoad> ask(EngineHttp http, int ranks) throws IOException, InterruptedException {
    var answer = http.scrape(LOADS);
    if (answer.statusCode() == 200) {
      return ofNow(Json.readObject(answer.body()), ranks);
    }
    var metrics = http.scrape("/metrics");
    return metrics.statusCode() == 200 ? ofMetrics(metrics.body(), ranks) : List.of();
  }

  private static List<ServerLoad> ofNow(JsonObject answer, int ranks) {
    var loads = new ArrayList<ServerLoad>();
    for (var each : answer.optionalObjects("loads")) {
      var rank = each.optionalCount("dp_rank");
      if (rank == null || rank != loads.size() || rank >= ranks) {
        throw new IllegalArgumentException(
            "%s reports rank %s after %d others, of %d"
                .formatted(LOADS, rank, loads.size(), ranks));
      }
      loads.add(
          new ServerLoad(
              each.count("num_running_reqs"),
              each.count("num_waiting_reqs"),
              each.members().get("token_usage") instanceof Number usage ? usage.doubleValue() : 0,
              null));
    }
    return loads;
  }

  private static List<ServerLoad> ofMetrics(byte[] text, int ranks) {
    var figures = RankFigures.read(text, "dp_rank", ranks, NAMES);
    var loads = new ArrayList<ServerLoad>();
    if (figures.has(RUNNING) && figures.has(GENERATED)) {
      for (int rank = 0; rank < ranks; rank++) {
        loads.add(
            new ServerLoad(
                figures.count(RUNNING, rank),
                figures.count(WAITING, rank),
                figures.value(USAGE, rank),
                (long) (figures.value(PROMPT, rank) + figures.value(GENERATED, rank))));
      }
    }
    return loads;
  }
}
