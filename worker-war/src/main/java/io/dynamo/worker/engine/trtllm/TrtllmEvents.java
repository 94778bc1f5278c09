package io.dynamo.worker.engine.trtllm;

import io.dynamo.json.JsonObject;
import io.dynamo.kv.EngineKvEvent;
import io.dynamo.worker.engine.remote.EngineHttp;
import io.dynamo.worker.engine.remote.RemoteEvents;
import io.dynamo.worker.engine.remote.RemoteFacts;
import io.dynamo.worker.engine.remote.blocks.EngineBlocks;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Fetches the KV events that a TensorRT-LLM server buffers, on a thread of its own, and applies
 * them in the order of their ids. After a gap, which the full buffer of a slow reader leaves or
 * another reader of the same server, all blocks are forgotten. {@link #close} ends the thread.
 */
final class TrtllmEvents implements RemoteEvents.RemoteEventSubscription {
  private static final System.Logger LOG = System.getLogger(TrtllmEvents.class.getName());
  private static final String PATH = "/kv_cache_events";
  private static final Duration FETCH = Duration.ofSeconds(10); // older servers wait for an event
  private static final Duration IDLE = Duration.ofMillis(50); // after an answer without events
  private static final Duration BROKEN = Duration.ofSeconds(1);
  private static final Duration JOIN = Duration.ofSeconds(5);
  private static final long UNKNOWN = -1; // the next event says where the ids are
  private static final int[] NO_TOKENS = {};

  private final EngineHttp http;
  private final int blockTokens;
  private final EngineBlocks blocks;
  private final CountDownLatch closed = new CountDownLatch(1);
  private final Thread thread = Thread.ofVirtual().name("trtllm-events").unstarted(this::run);
  private long next = UNKNOWN; // of the thread, as are the others
  private long window = -1; // the widest attention window seen
  private boolean broken;
  private boolean manyRanks; // the server places requests on ranks itself

  TrtllmEvents(EngineHttp http, RemoteFacts facts, EngineBlocks blocks) {
    this.http = http;
    this.blockTokens = facts.blockTokens();
    this.blocks = blocks;
  }

  /** Returns the events that the server has buffered; null where it has no such route. */
  static @Nullable List<JsonObject> drain(EngineHttp http)
      throws IOException, InterruptedException {
    var answer = http.postOnce(PATH, new byte[0], FETCH);
    return switch (answer.statusCode()) {
      case 200 -> JsonLists.objects(PATH, answer);
      case 404, 405, 501 -> null;
      default -> throw new IOException("%s answers %d".formatted(PATH, answer.statusCode()));
    };
  }

  void start() {
    thread.start();
  }

  private void run() {
    try {
      var pause = Duration.ZERO;
      while (!closed.await(pause.toNanos(), TimeUnit.NANOSECONDS)) {
        pause = fetch();
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt(); // closed: the thread ends
    }
  }

  /** Fetches and applies the available events; returns the pause before the next time. */
  private Duration fetch() throws InterruptedException {
    try {
      var events = drain(http);
      if (events == null) {
        throw new IOException(PATH + " is gone");
      }
      if (broken) {
        broken = false;
        LOG.log(Level.INFO, "KV events of {0} are followed again", http.base());
      }
      events.forEach(this::take);
      return events.isEmpty() ? IDLE : Duration.ZERO;
    } catch (IOException | IllegalArgumentException e) {
      if (!broken && closed.getCount() > 0) {
        broken = true;
        LOG.log(
            Level.WARNING,
            "KV events of {0} cannot be fetched, its blocks are forgotten: {1}",
            http.base(),
            e.toString());
      }
      var _ = blocks.forget(); // the engine may be another one when it is back
      next = UNKNOWN;
      window = UNKNOWN;
      manyRanks = false;
      return BROKEN;
    }
  }

  private void take(JsonObject event) {
    long id = event.unsigned("event_id");
    if (next != UNKNOWN && id != next && blocks.forget()) {
      LOG.log(
          Level.WARNING,
          "KV events of {0} go on with id {1} after {2}: what is between is lost; its blocks are"
              + " forgotten",
          http.base(),
          id,
          next - 1);
    }
    next = id + 1;
    var rank = event.optionalLong("attention_dp_rank");
    if (rank != null && rank > 0 && !manyRanks) {
      manyRanks = true;
      var _ = blocks.forget();
      LOG.log(
          Level.WARNING,
          "the server {0} has attention data parallelism and places requests itself: its KV events"
              + " say nothing to routers and are left out",
          http.base());
    }
    var size = event.optionalLong("window_size");
    if (size != null && size > window) {
      window = size;
    }
    if (!manyRanks && (size == null || size == window)) {
      apply(event.object("data"));
    }
  }

  private void apply(JsonObject data) {
    switch (data.text("type")) {
      case "stored" -> store(data);
      case "removed" -> blocks.removeEverywhere(hashes(data));
      case "updated" -> {
        var level = data.optionalObject("cache_level");
        if (level != null) {
          move(
              data.unsigned("block_hash"),
              level.unsigned("old_value"),
              level.unsigned("new_value"));
        }
      }
      default -> {} // created: the blocks' memory
    }
  }

  private void move(long hash, long from, long to) {
    var hashes = new long[] {hash};
    if (from != to) {
      blocks.apply(
          new EngineKvEvent.Stored(
              hashes, null, NO_TOKENS, blockTokens, medium(to), null, List.of(), null));
      blocks.apply(new EngineKvEvent.Removed(hashes, medium(from), null));
    }
  }

  /** Returns the medium of a cache level: the device and host memory are all there is. */
  private static String medium(@Nullable Long level) {
    if (level == null || level == 0) {
      return "GPU";
    }
    return level == 1 ? "CPU" : "LEVEL_" + level;
  }

  /** Stores the leading blocks that are full; the others have no followers. */
  private void store(JsonObject data) {
    var stored = data.optionalObjects("blocks");
    int full = 0;
    while (full < stored.size() && isRouted(stored.get(full))) {
      full++;
    }
    var parent =
        data.members().get("parent_hash") == null ? null : (Long) data.unsigned("parent_hash");
    int begin = 0;
    while (begin < full) {
      var medium = medium(stored.get(begin).optionalLong("cache_level"));
      int end = begin + 1;
      while (end < full && medium.equals(medium(stored.get(end).optionalLong("cache_level")))) {
        end++;
      }
      parent = store(parent, medium, stored.subList(begin, end));
      begin = end;
    }
  }

  /** Stores blocks of one cache level; returns the name of the last. */
  private long store(@Nullable Long parent, String medium, List<JsonObject> stored) {
    var hashes = new long[stored.size()];
    var tokens = new int[stored.size() * blockTokens];
    for (int i = 0; i < stored.size(); i++) {
      hashes[i] = stored.get(i).unsigned("block_hash");
      var each = stored.get(i).optionalObjects("tokens");
      for (int j = 0; j < blockTokens; j++) {
        tokens[i * blockTokens + j] = each.get(j).count("token_id");
      }
    }
    blocks.apply(
        new EngineKvEvent.Stored(
            hashes, parent, tokens, blockTokens, medium, null, List.of(), null));
    return hashes[hashes.length - 1];
  }

  /** Whether it is a full block of plain text. */
  private boolean isRouted(JsonObject block) {
    var tokens = block.optionalObjects("tokens");
    return tokens.size() == blockTokens && tokens.stream().allMatch(TrtllmEvents::isPlain);
  }

  /** Tokens of adapters and media have an id beside their own. */
  private static boolean isPlain(JsonObject token) {
    var extra = token.optionalLong("token_extra_id");
    return extra == null || extra == 0;
  }

  private static long[] hashes(JsonObject data) {
    var list = data.list("block_hashes");
    var hashes = new long[list.size()];
    for (int i = 0; i < hashes.length; i++) {
      hashes[i] = JsonObject.of(Collections.singletonMap("hash", list.get(i))).unsigned("hash");
    }
    return hashes;
  }

  /** Ends the thread; nothing is reported after it returns, unless the thread hangs. */
  @Override
  public void close() {
    closed.countDown();
    thread.interrupt();
    try {
      if (thread.getState() != Thread.State.NEW && !thread.join(JOIN)) {
        LOG.log(Level.WARNING, "the events of {0} are followed still after {1}", http.base(), JOIN);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
