package io.dynamo.worker.engine.sglang;

import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import io.dynamo.worker.engine.remote.AdapterRoutes;
import io.dynamo.worker.engine.remote.EngineHttp;
import io.dynamo.worker.engine.remote.ServerMemory;
import io.dynamo.worker.engine.remote.ServerMemory.Released;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Makes an SGLang server release its memory and take it again; weights are then read from disk. The
 * server does not report whether it has released any, so one that another has put to sleep stays
 * so; and one that is to take again what it has ends, so that it is asked once. Safe for concurrent
 * use.
 */
final class SglangSleep {
  private static final System.Logger LOG = System.getLogger(SglangSleep.class.getName());
  private static final Duration COMMAND = Duration.ofMinutes(5);
  private static final Duration IDLE = Duration.ofSeconds(5); // while requests end
  private static final Duration BETWEEN_TRIES = Duration.ofMillis(100);
  private static final List<String> CACHE = List.of("kv_cache");
  private static final List<String> CACHE_AND_WEIGHTS = List.of("kv_cache", "weights");
  private static final int BUSY = 400;

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
    awaitIdle(http);
    var before = memory.release(weightsToo, process(http));
    int status;
    try {
      status = memory(http, "/release_memory_occupation", weightsToo);
    } catch (ConnectException e) {
      memory.reset(before); // nothing was sent
      throw e;
    }
    if (status != 200) {
      memory.reset(before);
      throw new IllegalStateException(
          "it answers %d to /release_memory_occupation; start it with --enable-memory-saver"
              .formatted(status));
    }
  }

  private static void awaitIdle(EngineHttp http) throws IOException, InterruptedException {
    long until = System.nanoTime() + IDLE.toNanos();
    while (true) {
      long left = Math.max(until - System.nanoTime(), BETWEEN_TRIES.toNanos());
      int status;
      try {
        status = http.post("/flush_cache", new byte[0], Duration.ofNanos(left)).statusCode();
      } catch (SocketTimeoutException e) {
        throw new IllegalStateException("it does not answer /flush_cache within " + IDLE, e);
      }
      if (status == 200) {
        return;
      }
      if (status != BUSY) {
        throw new IllegalStateException("it answers %d to /flush_cache".formatted(status));
      }
      if (System.nanoTime() - until >= 0) {
        throw new IllegalStateException(
            "requests of others run there for more than %s".formatted(IDLE));
      }
      Thread.sleep(BETWEEN_TRIES);
    }
  }

  /**
   * Returns the seed that the server has drawn at its start, which tells it from its successor;
   * null where it does not say. One that was started with a seed always has the same.
   */
  private static @Nullable String process(EngineHttp http)
      throws IOException, InterruptedException {
    try {
      var seed = SglangFacts.info(http).members().get("random_seed");
      return seed == null ? null : seed.toString();
    } catch (SocketTimeoutException | IllegalArgumentException e) {
      LOG.log(Level.DEBUG, "SGLang at {0} does not report itself: {1}", http.base(), e);
      return null;
    }
  }

  /**
   * Takes back what {@link #sleep} released, and reads what was lost.
   *
   * @throws IllegalArgumentException when the server refuses; the message says why
   */
  void wake(EngineHttp http) throws IOException, InterruptedException {
    var state = memory.state();
    if (state.released() != Released.UNKNOWN) {
      var now = state.process() == null ? null : process(http);
      if (now == null || now.equals(state.process())) {
        resume(http, state);
      } else {
        LOG.log(Level.INFO, "SGLang at {0} was started anew and has its memory", http.base());
        memory.resumed();
        memory.weightsRead();
      }
    }
    if (memory.state().unreadWeights()) {
      var path = http.object("/model_info").text("model_path");
      var body = Json.write(JsonObject.ordered("model_path", path));
      int status = http.post("/update_weights_from_disk", body, COMMAND).statusCode();
      if (status != 200) {
        throw new IllegalArgumentException(
            "it has lost its weights and answers %d to /update_weights_from_disk"
                .formatted(status));
      }
      adapters.recordLost(http, memory.adapters());
      memory.weightsRead();
    }
    adapters.readAgain(http, memory.adapters());
  }

  private void resume(EngineHttp http, ServerMemory.State asleep)
      throws IOException, InterruptedException {
    memory.resumed(); // first: where the answer is lost it must not be asked again
    int status;
    try {
      boolean weights = asleep.released() == Released.CACHE_AND_WEIGHTS;
      status = memory(http, "/resume_memory_occupation", weights);
    } catch (ConnectException e) {
      memory.reset(asleep); // nothing was sent
      throw e;
    }
    if (status != 200) {
      memory.reset(asleep);
      throw new IllegalArgumentException(
          "it sleeps and answers %d to /resume_memory_occupation; restart the worker where the server was started anew"
              .formatted(status));
    }
  }

  private static int memory(EngineHttp http, String path, boolean weights)
      throws IOException, InterruptedException {
    var body = JsonObject.ordered("tags", weights ? CACHE_AND_WEIGHTS : CACHE);
    return http.postOnce(path, Json.write(body), COMMAND).statusCode();
  }
}
