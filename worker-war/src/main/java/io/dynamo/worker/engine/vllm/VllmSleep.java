package io.dynamo.worker.engine.vllm;

import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import io.dynamo.worker.engine.remote.AdapterRoutes;
import io.dynamo.worker.engine.remote.EngineHttp;
import io.dynamo.worker.engine.remote.EngineHttp.NotReadyException;
import io.dynamo.worker.engine.remote.ServerMemory;
import io.dynamo.worker.engine.remote.ServerMemory.Released;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.regex.Pattern;

/**
 * Puts a vLLM server to sleep and wakes it, where the server has routes for it. Weights that were
 * dropped are read from disk again. Safe for concurrent use.
 */
final class VllmSleep {
  private static final System.Logger LOG = System.getLogger(VllmSleep.class.getName());
  private static final Duration COMMAND = Duration.ofMinutes(5); // weights go through host memory
  private static final byte[] NONE = {};
  private static final Pattern ASLEEP =
      Pattern.compile(
          "vllm:engine_sleep_state\\{[^}]*sleep_state=\"(weights_offloaded|discard_all)\"[^}]*} 1(\\.0)?");

  private final ServerMemory memory;
  private final AdapterRoutes adapters;
  private volatile boolean isLeft; // whether it was logged that another's sleep is left alone

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
    var before = memory.release(dropWeights, null);
    var answer = http.postOnce(path, NONE, COMMAND);
    if (answer.statusCode() != 200) {
      memory.reset(before);
      throw new IllegalStateException(
          "it answers %d to %s; start it with --enable-sleep-mode and VLLM_SERVER_DEV_MODE=1"
              .formatted(answer.statusCode(), path));
    }
  }

  /**
   * Wakes the server if this worker has put it to sleep, or where its metrics say that it sleeps: a
   * server that is paused says so of itself, too, and would lose the weights that it was given.
   *
   * @throws NotReadyException while another keeps it paused or asleep
   * @throws IllegalArgumentException when it refuses; the message says why
   */
  void wake(EngineHttp http) throws IOException, InterruptedException {
    if (isSleeping(http)) {
      if (memory.state().released() == Released.UNKNOWN) {
        memory.release(requireSleep(http) == Released.CACHE_AND_WEIGHTS, null);
      }
      LOG.log(Level.INFO, "vLLM at {0} sleeps and is woken", http.base());
      if (memory.state().unreadWeights()) {
        post(http, "/wake_up?tags=weights", NONE);
        post(http, "/collective_rpc", Json.write(JsonObject.ordered("method", "reload_weights")));
        post(http, "/wake_up?tags=kv_cache", NONE);
      } else {
        post(http, "/wake_up", NONE);
      }
      if (isSleeping(http)) {
        throw new IllegalArgumentException("it sleeps on after /wake_up");
      }
    }
    memory.resumed();
    if (memory.state().unreadWeights()) {
      adapters.recordLost(http, memory.adapters());
      memory.weightsRead();
    }
    adapters.readAgain(http, memory.adapters());
  }

  /** Returns what the server has released by its metrics, which tell a sleep from a pause. */
  private Released requireSleep(EngineHttp http) throws IOException, InterruptedException {
    var answer = http.get("/metrics");
    var released = Released.UNKNOWN;
    for (var line : new String(answer.body(), StandardCharsets.UTF_8).lines().toList()) {
      var state = ASLEEP.matcher(line);
      if (answer.statusCode() == 200 && state.matches()) {
        if (state.group(1).equals("discard_all")) {
          return Released.CACHE_AND_WEIGHTS;
        }
        released = Released.CACHE;
      }
    }
    if (released == Released.UNKNOWN) {
      if (!isLeft) {
        isLeft = true;
        LOG.log(
            Level.WARNING,
            "vLLM at {0} is paused, or sleeps without saying how deep: this worker waits and does"
                + " not wake it; resume it, or wake it by /wake_up",
            http.base());
      }
      throw new NotReadyException("it is paused, or sleeps without saying how deep");
    }
    return released;
  }

  private static boolean isSleeping(EngineHttp http) throws IOException, InterruptedException {
    var answer = http.get("/is_sleeping");
    if (answer.statusCode() != 200) {
      return false;
    }
    try {
      return Boolean.TRUE.equals(Json.readObject(answer.body()).members().get("is_sleeping"));
    } catch (IllegalArgumentException e) {
      LOG.log(
          Level.INFO,
          "/is_sleeping of vLLM at {0} cannot be read, so it counts as awake: {1}",
          http.base(),
          e.getMessage());
      return false;
    }
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
