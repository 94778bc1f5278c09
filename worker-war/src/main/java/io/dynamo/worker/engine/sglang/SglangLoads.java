package io.dynamo.worker.engine.sglang;

import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import io.dynamo.worker.engine.remote.EngineHttp;
import io.dynamo.worker.engine.remote.LoadSource.ServerLoad;
import java.io.IOException;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * Reads the load of an SGLang server's ranks from {@code /v1/loads}, which has the figures of the
 * moment.
 */
final class SglangLoads {
  private static final String LOADS = "/v1/loads";
  private static final ServerLoad NOTHING = new ServerLoad(0, 0, 0, null);

  private SglangLoads() {}

  /** Returns the load of each rank; empty when the server gives none. */
  static List<ServerLoad> ask(EngineHttp http, int ranks) throws IOException, InterruptedException {
    var answer = http.scrape(LOADS);
    if (answer.statusCode() != 200) {
      throw new IOException(LOADS + " answers " + answer.statusCode());
    }
    return read(Json.readObject(answer.body()), ranks);
  }

  private static List<ServerLoad> read(JsonObject answer, int ranks) {
    var loads = new TreeMap<Integer, ServerLoad>();
    for (var each : answer.optionalObjects("loads")) {
      var rank = each.optionalCount("dp_rank");
      if (rank == null || rank >= ranks || loads.containsKey(rank)) {
        throw new IllegalArgumentException(
            "%s reports rank %s besides %s, of %d".formatted(LOADS, rank, loads.keySet(), ranks));
      }
      loads.put(
          rank,
          new ServerLoad(
              each.count("num_running_reqs"),
              each.count("num_waiting_reqs"),
              each.members().get("token_usage") instanceof Number usage ? usage.doubleValue() : 0,
              null));
    }
    return loads.isEmpty()
        ? List.of()
        : IntStream.range(0, ranks)
            .mapToObj(rank -> loads.getOrDefault(rank, NOTHING)) // the own figures are greater
            .toList();
  }
}
