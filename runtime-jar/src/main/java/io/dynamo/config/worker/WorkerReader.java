package io.dynamo.config.worker;

import io.dynamo.config.key.KeyReader;
import io.dynamo.config.key.SettingKey;
import io.dynamo.config.memory.HeapShare;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Builds the workers' settings: one from the plain keys, or one for each model that {@code
 * dynamo.worker.models} names. One use, one thread.
 */
public final class WorkerReader {
  private static final String WORKER = "dynamo.worker.";
  private static final String MODELS = WORKER + "models.";
  private static final String NAME = "[A-Za-z0-9_-]+";

  /**
   * Heap bytes per KV block: arrays of 28 bytes, of which G1 may waste as many; a name, and its
   * entry in a hash table.
   */
  public static final int TABLE_BYTES_PER_BLOCK = 128;

  /** Reads the settings of one model. */
  private interface Keys {
    <T> @Nullable T optional(SettingKey<T> key);

    default <T> T get(SettingKey<T> key) {
      return Objects.requireNonNull(optional(key), key.name());
    }
  }

  private final KeyReader from;
  private final Map<String, SettingKey<?>> owns = new HashMap<>(); // by model name

  public WorkerReader(KeyReader from) {
    this.from = from;
  }

  /** Reads the settings of each model, and returns their problems. */
  public List<String> problems() {
    var problems = new ArrayList<String>();
    for (var name : names()) {
      if (!name.matches(NAME)) {
        problems.add(
            "%s names \"%s\"; a name is letters, digits, - and _, as its settings have it in their keys"
                .formatted(WorkerKeys.MODELS.name(), name));
        continue;
      }
      for (var key : keys()) {
        from.take(own(name, key));
      }
    }
    refuseTwice(problems, "model-name", WorkerReader::shownName);
    refuseTwice(problems, "component", keys -> keys.optional(WorkerKeys.COMPONENT));
    return problems;
  }

  /**
   * Returns a problem when the tables of all KV blocks would exceed their share of the heap. Called
   * for a server with the worker role whose models have no other {@link #problems}.
   */
  public List<String> tableProblems() {
    long blocks = all().mapToLong(WorkerReader::blocks).sum();
    long bytes = HeapShare.BLOCK_TABLES.bytes();
    if (blocks <= bytes / TABLE_BYTES_PER_BLOCK) {
      return List.of();
    }
    return List.of(
        "the engines have %d KV blocks in all models (%s x %s); their tables take %d bytes of heap for each, and a sixteenth of the heap (%d MiB) has room for %d blocks; set fewer or larger blocks (%s), or a heap of at least %d MiB (-Xmx)"
            .formatted(
                blocks,
                WorkerKeys.RANKS.name(),
                WorkerKeys.BLOCKS_PER_RANK.name(),
                TABLE_BYTES_PER_BLOCK,
                bytes >> 20,
                bytes / TABLE_BYTES_PER_BLOCK,
                WorkerKeys.BLOCK_TOKENS.name(),
                (HeapShare.BLOCK_TABLES.heapFor(blocks * TABLE_BYTES_PER_BLOCK) >> 20) + 1));
  }

  /** Returns the KV blocks of one model's engine; 0 for engines that keep them elsewhere. */
  private static long blocks(Keys keys) {
    var ranks = keys.optional(WorkerKeys.RANKS);
    var engine = keys.optional(WorkerKeys.ENGINE);
    if (ranks == null || engine == null) { // reported as a problem elsewhere
      return 0;
    }
    var perRank =
        switch (engine) {
          case MOCK -> keys.optional(WorkerKeys.BLOCKS_PER_RANK);
          case LLAMA -> keys.optional(WorkerKeys.LLAMA_BLOCKS_PER_RANK);
          case ECHO, LLAMACPP, VLLM, SGLANG, TRTLLM, OPENAI -> null;
        };
    return perRank == null ? 0 : (long) ranks * perRank;
  }

  private static @Nullable String shownName(Keys keys) {
    return keys.optional(WorkerKeys.MODEL_NAME);
  }

  /** Returns the keys of all models; complete once {@link #problems} has read them. */
  public Set<String> ownKeys() {
    return Set.copyOf(owns.keySet());
  }

  private void refuseTwice(
      List<String> problems, String what, Function<Keys, @Nullable String> value) {
    Map<String, String> holders = new HashMap<>();
    for (var name : names()) {
      var its = value.apply(of(name));
      var other = its == null ? null : holders.putIfAbsent(its, name);
      if (other != null) {
        problems.add(
            "the models %s and %s have the same %s \"%s\"; set %s%s.%s to another"
                .formatted(other, name, what, its, MODELS, name, what));
      }
    }
  }

  private List<String> names() {
    var names = from.optional(WorkerKeys.MODELS);
    return names == null ? List.of() : names;
  }

  /** Returns the settings that can be set per model: all of a worker's. */
  private static List<SettingKey<?>> keys() {
    var keys = new ArrayList<SettingKey<?>>();
    keys.addAll(WorkerKeys.all());
    keys.addAll(EngineKeys.all());
    keys.remove(WorkerKeys.MODELS);
    return keys;
  }

  /** Returns the same key for one model; absent unless it is set. */
  @SuppressWarnings("unchecked") // made of a key of the same type under the same name
  private <T> SettingKey<T> own(String model, SettingKey<T> key) {
    var name = MODELS + model + "." + key.name().substring(WORKER.length());
    return (SettingKey<T>)
        owns.computeIfAbsent(
            name,
            _ -> new SettingKey<>(name, key.type(), "", key.bound(), key.meaning(), List.of()));
  }

  /** Returns a model's own settings, with those of {@code dynamo.worker} as defaults. */
  private Keys of(String model) {
    return new Keys() {
      @Override
      @SuppressWarnings("unchecked") // both are keys of texts
      public <T> @Nullable T optional(SettingKey<T> key) {
        var its = from.optional(own(model, key));
        if (its != null) {
          return its;
        }
        return key.equals(WorkerKeys.MODEL_NAME) || key.equals(WorkerKeys.COMPONENT)
            ? (T) model
            : from.optional(key);
      }
    };
  }

  public List<WorkerSettings> read() {
    return all().map(WorkerReader::worker).toList();
  }

  /** Returns the keys of each model, or the plain ones where no model is named. */
  private Stream<Keys> all() {
    if (names().isEmpty()) {
      return Stream.of(
          new Keys() {
            @Override
            public <T> @Nullable T optional(SettingKey<T> key) {
              return from.optional(key);
            }
          });
    }
    return names().stream().map(this::of);
  }

  private static WorkerSettings worker(Keys of) {
    return new WorkerSettings(
        of.get(WorkerKeys.COMPONENT),
        of.get(WorkerKeys.ENDPOINT),
        of.optional(WorkerKeys.APIS),
        of.get(WorkerKeys.ENGINE),
        of.get(WorkerKeys.MODEL_PATH),
        of.optional(WorkerKeys.MODEL_NAME),
        of.optional(WorkerKeys.TOOL_CALL_PARSER),
        of.optional(WorkerKeys.REASONING_PARSER),
        of.get(WorkerKeys.RANKS),
        of.get(WorkerKeys.BLOCK_TOKENS),
        of.get(WorkerKeys.BLOCKS_PER_RANK),
        of.get(WorkerKeys.BLOCK_BYTES),
        of.get(WorkerKeys.TOKEN_INTERVAL),
        of.get(WorkerKeys.PREFILL_PER_TOKEN),
        of.get(WorkerKeys.MAX_RUNNING),
        of.optional(WorkerKeys.ROUTER_CONFIG),
        Objects.requireNonNullElse(of.optional(WorkerKeys.TAINTS), List.of()),
        of.optional(WorkerKeys.HEALTH_PAYLOAD),
        of.get(WorkerKeys.MAX_LORAS),
        of.get(WorkerKeys.STALL_TIMEOUT),
        of.get(WorkerKeys.LLAMA_BLOCKS_PER_RANK),
        of.get(WorkerKeys.LLAMA_PASS_TOKENS),
        new EmbeddingSettings(
            of.get(WorkerKeys.EMBEDDING_ENDPOINT),
            of.get(WorkerKeys.EMBEDDING_POOLING),
            of.get(WorkerKeys.EMBEDDING_UNIT_LENGTH)),
        new MockSettings(
            of.get(EngineKeys.MOCK_PASS_TOKENS),
            of.get(EngineKeys.MOCK_CHUNKED_PREFILL),
            of.get(EngineKeys.MOCK_PREFIX_CACHING),
            of.get(EngineKeys.MOCK_PREEMPTION),
            of.get(EngineKeys.MOCK_TIMING),
            of.get(EngineKeys.MOCK_SPEEDUP),
            of.get(EngineKeys.MOCK_DECODE_SPEEDUP),
            of.optional(EngineKeys.MOCK_FAULT_FILE)),
        new LlamaCppSettings(
            of.get(EngineKeys.LLAMACPP_URL),
            of.get(EngineKeys.LLAMACPP_START_TIMEOUT),
            of.get(EngineKeys.LLAMACPP_SILENCE_TIMEOUT)),
        new RemoteSettings(
            of.get(EngineKeys.REMOTE_URL),
            of.optional(EngineKeys.REMOTE_KEY_FILE),
            of.optional(EngineKeys.REMOTE_AUTHORITIES),
            of.optional(EngineKeys.REMOTE_MODEL),
            of.get(EngineKeys.REMOTE_START_TIMEOUT),
            of.get(EngineKeys.REMOTE_SILENCE_TIMEOUT),
            of.optional(EngineKeys.REMOTE_BLOCK_TOKENS),
            of.optional(EngineKeys.REMOTE_BLOCKS_PER_RANK),
            of.optional(EngineKeys.REMOTE_KV_EVENTS),
            of.optional(EngineKeys.REMOTE_KV_REPLAY),
            of.optional(EngineKeys.REMOTE_SECOND_KV_EVENTS),
            of.optional(EngineKeys.REMOTE_SECOND_KV_REPLAY),
            of.get(EngineKeys.REMOTE_TOKEN_ROUTE)),
        new ProcessSettings(
            of.optional(EngineKeys.PROCESS_COMMAND),
            of.optional(EngineKeys.PROCESS_LOG),
            of.get(EngineKeys.PROCESS_STOP_TIMEOUT)));
  }
}
