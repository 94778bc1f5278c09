package io.dynamo.worker.engine.sglang;

import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import io.dynamo.worker.engine.remote.AdapterRoutes;
import io.dynamo.worker.engine.remote.EngineHttp;
import io.dynamo.worker.engine.remote.ServerMemory;
import io.dynamo.worker.engine.remote.ServerMemory.Released;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

/**
 * Makes an SGLang server release its memory and take it again; weights are then read from disk. The
 * server does not report whether it has released any, so one that another has put to sleep stays
 * so. Safe for concurrent use.
 */
final class SglangSleep {
  private static final Duration COMMAND = Duration.ofMinutes(5);
  private static final Duration IDLE = Duration.ofSeconds(5); // while requests end
  private static final Duration BETWEEN_TRIES = Duration.ofMillis(100);
  private static final List<String> CACHE = List.of("kv_cache");
  private static final List<String> CACHE_AND_WEIGHTS = List.of("kv_cache", "weights");

  private final ServerMemory memory;
  private final AdapterRoutes adapters;

  SglangSleep(ServerMemory memory, AdapterRoutes adapters) {
    this.memory = memory;
    this.adapters = adapters;
  }

  /**
   * Releases the KV blocks, once no request runs: otherwise the server would end.
   *
   * @throws IllegalStateException when the server refuses or stays busy; the message says why
   */
  void sleep(EngineHttp http, boolean weightsToo) throws IOException, InterruptedException {
    long until = System.nanoTime() + IDLE.toNanos();
    while (http.post("/flush_cache", new byte[0], COMMAND).statusCode() != 200) {
      if (System.nanoTime() - until >= 0) {
        throw new IllegalStateException(
            "requests of others run there for more than %s".formatted(IDLE));
      }
      Thread.sleep(BETWEEN_TRIES);
    }
    var answer = memory(http, "/release_memory_occupation", weightsToo);
    if (answer != 200) {
      throw new IllegalStateException(
          "it answers %d to /release_memory_occupation; start it with --enable-memory-saver"
              .formatted(answer));
    }
    memory.release(weightsToo);
  }

  /**
   * Takes back what {@link #sleep} released.
   *
   * @throws IllegalArgumentException when the server refuses; the message says why
   */
  void wake(EngineHttp http) throws IOException, InterruptedException {
    var released = memory.released();
    if (released == Released.UNKNOWN) {
      return;
    }
    boolean weights = released == Released.CACHE_AND_WEIGHTS;
    require("/resume_memory_occupation", memory(http, "/resume_memory_occupation", weights));
    if (weights) {
      var path = http.object("/model_info").text("model_path");
      var body = Json.write(JsonObject.ordered("model_path", path));
      require(
          "/update_weights_from_disk",
          http.post("/update_weights_from_disk", body, COMMAND).statusCode());
      adapters.reload(http);
    }
    memory.restored();
  }

  private static int memory(EngineHttp http, String path, boolean weights)
      throws IOException, InterruptedException {
    var body = JsonObject.ordered("tags", weights ? CACHE_AND_WEIGHTS : CACHE);
    return http.post(path, Json.write(body), COMMAND).statusCode();
  }

  private static void require(String path, int status) {
    if (status != 200) {
      throw new IllegalArgumentException("it sleeps and answers %d to %s".formatted(status, path));
    }
  }
}
