package io.dynamo.worker.engine.vllm;

import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import io.dynamo.worker.engine.remote.AdapterRoutes;
import io.dynamo.worker.engine.remote.EngineHttp;
import io.dynamo.worker.engine.remote.ServerMemory;
import io.dynamo.worker.engine.remote.ServerMemory.Released;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.Duration;

/**
 * Puts a vLLM server to sleep and wakes it, where the server has routes for it. Weights that may
 * have been dropped are read from disk again. Safe for concurrent use.
 */
final class VllmSleep {
  private static final System.Logger LOG = System.getLogger(VllmSleep.class.getName());
  private static final Duration COMMAND = Duration.ofMinutes(5); // weights go through host memory
  private static final byte[] NONE = {};

  private final ServerMemory memory;
  private final AdapterRoutes adapters;

  VllmSleep(ServerMemory memory, AdapterRoutes adapters) {
    this.memory = memory;
    this.adapters = adapters;
  }

  /**
   * Releases the KV blocks. The weights go to host memory, or are dropped.
   *
   * @throws IllegalStateException when the server refuses; the message says why
   */
  void sleep(EngineHttp http, boolean dropWeights) throws IOException, InterruptedException {
    var path = "/sleep?level=" + (dropWeights ? 2 : 1);
    var answer = http.post(path, NONE, COMMAND);
    if (answer.statusCode() != 200) {
      throw new IllegalStateException(
          "it answers %d to %s; start it with --enable-sleep-mode and VLLM_SERVER_DEV_MODE=1"
              .formatted(answer.statusCode(), path));
    }
    memory.release(dropWeights);
  }

  /**
   * Wakes the server if it sleeps, whoever made it.
   *
   * @throws IllegalArgumentException when it refuses; the message says why
   */
  void wake(EngineHttp http) throws IOException, InterruptedException {
    if (isSleeping(http)) {
      LOG.log(Level.INFO, "vLLM at {0} sleeps and is woken", http.base());
      if (memory.released() == Released.CACHE) {
        post(http, "/wake_up", NONE);
      } else {
        post(http, "/wake_up?tags=weights", NONE);
        post(http, "/collective_rpc", Json.write(JsonObject.ordered("method", "reload_weights")));
        post(http, "/wake_up?tags=kv_cache", NONE);
        adapters.reload(http);
      }
      if (isSleeping(http)) {
        throw new IllegalArgumentException("it sleeps on after /wake_up");
      }
    }
    memory.restored();
  }

  private static boolean isSleeping(EngineHttp http) throws IOException, InterruptedException {
    var answer = http.get("/is_sleeping");
    return answer.statusCode() == 200
        && Boolean.TRUE.equals(Json.readObject(answer.body()).members().get("is_sleeping"));
  }

  private static void post(EngineHttp http, String path, byte[] body)
      throws IOException, InterruptedException {
    var answer = http.post(path, body, COMMAND);
    if (answer.statusCode() != 200) {
      throw new IllegalArgumentException(
          "it sleeps and answers %d to %s: %s"
              .formatted(answer.statusCode(), path, EngineHttp.shown(answer.body())));
    }
  }
}
