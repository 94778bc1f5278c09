package io.dynamo.config;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Makes the workers' settings: one of the plain keys, or one of each model that {@code
 * dynamo.worker.models} names. One use, one thread.
 */
final class WorkerReader {
  private static final String WORKER = "dynamo.worker.";
  private static final String MODELS = WORKER + "models.";
  private static final String NAME = "[A-Za-z0-9_-]+";

  /** Where the settings of one model are read. */
  private interface Keys {
    <T> @Nullable T optional(SettingKey<T> key);

    default <T> T get(SettingKey<T> key) {
      return Objects.requireNonNull(optional(key), key.name());
    }
  }

  private final SettingsReader from;
  private final Map<String, SettingKey<?>> owns = new HashMap<>(); // by their names

  WorkerReader(SettingsReader from) {
    this.from = from;
  }

  /**
   * Reads what is said of each model, and says what is wrong with it.
   *
   * @param all names of all settings there are, to find those that mean nothing
   */
  List<String> problems(Iterable<String> all) {
    var problems = new ArrayList<String>();
    var known = new HashSet<String>();
    for (var name : names()) {
      if (!name.matches(NAME)) {
        problems.add(
            "%s names \"%s\"; a name is letters, digits, - and _, as its settings have it in their keys"
                .formatted(WorkerKeys.MODELS.name(), name));
        continue;
      }
      for (var key : keys()) {
        var own = own(name, key);
        known.add(own.name());
        from.take(own);
      }
    }
    var given = new HashSet<String>();
    all.forEach(given::add);
    known.forEach(
        name -> {
          if (given.contains(variable(name))) {
            given.remove(spelled(variable(name)));
          }
        });
    for (var name : given) {
      if (name.startsWith(MODELS) && !known.contains(name)) {
        problems.add(
            "%s is a setting of no model; name the model in %s, and the setting as docs/configuration.md has it"
                .formatted(name, WorkerKeys.MODELS.name()));
      }
    }
    refuseTwice(problems, "model-name", WorkerReader::shownName);
    refuseTwice(problems, "component", keys -> keys.optional(WorkerKeys.COMPONENT));
    return problems;
  }

  private static @Nullable String shownName(Keys keys) {
    return keys.optional(WorkerKeys.MODEL_NAME);
  }

  /** The variable of the environment that stands for a key, as MicroProfile Config has it. */
  private static String variable(String key) {
    return key.replaceAll("[^A-Za-z0-9]", "_").toUpperCase(Locale.ROOT);
  }

  /** How sources of the environment list a variable beside itself: each underscore is a dot. */
  private static String spelled(String variable) {
    return variable.toLowerCase(Locale.ROOT).replace('_', '.');
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

  /** What a model can have of its own: every setting of a worker. */
  private static List<SettingKey<?>> keys() {
    var keys = new ArrayList<SettingKey<?>>();
    for (var key : SettingKeys.all()) {
      if (key.name().startsWith(WORKER) && !key.equals(WorkerKeys.MODELS)) {
        keys.add(key);
      }
    }
    return keys;
  }

  /** The same key for one model; absent unless it is set. */
  @SuppressWarnings("unchecked") // made of a key of the same type under the same name
  private <T> SettingKey<T> own(String model, SettingKey<T> key) {
    var name = MODELS + model + "." + key.name().substring(WORKER.length());
    return (SettingKey<T>)
        owns.computeIfAbsent(
            name, _ -> new SettingKey<>(name, key.type(), "", key.bound(), key.meaning()));
  }

  /** A model's own settings, and where it has none, those of {@code dynamo.worker}. */
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

  List<WorkerSettings> read() {
    if (names().isEmpty()) {
      return List.of(
          worker(
              new Keys() {
                @Override
                public <T> @Nullable T optional(SettingKey<T> key) {
                  return from.optional(key);
                }
              }));
    }
    return names().stream().map(name -> worker(of(name))).toList();
  }

  private WorkerSettings worker(Keys of) {
    return new WorkerSettings(
        of.get(WorkerKeys.COMPONENT),
        of.get(WorkerKeys.ENDPOINT),
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
            of.get(EngineKeys.LLAMACPP_SILENCE_TIMEOUT)));
  }
}
