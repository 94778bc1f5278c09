package io.dynamo.worker.control;

import io.dynamo.json.JsonObject;
import io.dynamo.model.LoraAdapter;
import io.dynamo.worker.WorkerService;
import io.dynamo.worker.engine.CacheControl;
import io.dynamo.worker.lora.Adapters;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs commands on one model's worker, in Dynamo's words: each returns a map with a {@code status};
 * a failure has the status {@code error} and a {@code message}. Safe for concurrent use; all may
 * block.
 */
public final class ModelControls {
  private static final System.Logger LOG = System.getLogger(ModelControls.class.getName());
  private static final int MAX_LEVEL = 3;

  private final String model;
  private final WorkerService service;
  private final CacheControl cache;
  private final Adapters adapters;

  /**
   * @param model the model name that clients use
   */
  public ModelControls(String model, WorkerService service, CacheControl cache, Adapters adapters) {
    this.model = model;
    this.service = service;
    this.cache = cache;
    this.adapters = adapters;
  }

  public String model() {
    return model;
  }

  Adapters adapters() {
    return adapters;
  }

  Map<String, @Nullable Object> sleep(JsonObject body) {
    return answered(
        () -> {
          int level = level(body.members().get("level"));
          return ok(
              service.sleep(level)
                  ? "Engine slept (level=" + level + ")"
                  : "Engine already sleeping");
        });
  }

  private static int level(@Nullable Object asked) {
    if (asked == null) {
      return 1;
    }
    if (asked instanceof Number number
        && number.doubleValue() == number.intValue()
        && number.intValue() >= 1
        && number.intValue() <= MAX_LEVEL) {
      return number.intValue();
    }
    throw new IllegalArgumentException(
        "level must be a whole number from 1 (keeps the weights) to %d (drops them as 2 does)"
            .formatted(MAX_LEVEL));
  }

  Map<String, @Nullable Object> wakeUp() {
    return answered(() -> ok(service.wake() ? "Engine woke" : "Engine already awake"));
  }

  Map<String, @Nullable Object> isSleeping() {
    return answered(() -> JsonObject.ordered("status", "ok", "is_sleeping", service.isAsleep()));
  }

  /** Replaces the taints; those that the body does not name are removed. */
  Map<String, @Nullable Object> updateTaints(JsonObject body) {
    return answered(
        () -> {
          var taints = Taints.read(body.members().get("taints"));
          service.taint(taints);
          return JsonObject.ordered("status", "ok", "taints", List.copyOf(taints));
        });
  }

  Map<String, @Nullable Object> clearKvBlocks() {
    return answered(
        () -> {
          cache.clearCache();
          return JsonObject.ordered("status", "success", "message", "KV cache cleared");
        });
  }

  Map<String, @Nullable Object> loadLora(JsonObject body) {
    return answered(
        () -> {
          var name = name(body);
          var source = body.optionalObject("source");
          var uri = source == null ? null : source.optionalText("uri");
          if (uri == null || uri.isEmpty()) {
            throw new IllegalArgumentException("'source.uri' is required and must be a string");
          }
          boolean isNew = adapters.load(name, uri);
          return JsonObject.ordered(
              "status",
              "success",
              "message",
              "LoRA adapter '%s' %s"
                  .formatted(name, isNew ? "loaded successfully" : "already loaded"),
              "lora_name",
              name,
              "lora_id",
              LoraAdapter.idOf(name),
              "hot_swap",
              false);
        });
  }

  Map<String, @Nullable Object> unloadLora(JsonObject body) {
    return answered(
        () -> {
          var name = name(body);
          adapters.unload(name);
          return JsonObject.ordered(
              "status",
              "success",
              "message",
              "LoRA adapter '%s' unloaded successfully".formatted(name),
              "lora_name",
              name,
              "lora_id",
              LoraAdapter.idOf(name));
        });
  }

  private static String name(JsonObject body) {
    var name = body.optionalText("lora_name");
    if (name == null || name.isEmpty()) {
      throw new IllegalArgumentException("'lora_name' is required and must be a string");
    }
    return name;
  }

  Map<String, @Nullable Object> listLoras() {
    var ids = adapters.ids();
    return JsonObject.ordered("status", "success", "loras", ids, "count", ids.size());
  }

  private static Map<String, @Nullable Object> ok(String message) {
    return JsonObject.ordered("status", "ok", "message", message);
  }

  static Map<String, @Nullable Object> error(String message) {
    return JsonObject.ordered("status", "error", "message", message);
  }

  private Map<String, @Nullable Object> answered(Supplier<Map<String, @Nullable Object>> command) {
    try {
      return command.get();
    } catch (IllegalArgumentException | IllegalStateException refused) {
      return error(String.valueOf(refused.getMessage()));
    } catch (RuntimeException failure) {
      LOG.log(Level.WARNING, "a command to " + model + " failed", failure);
      return error(String.valueOf(failure.getMessage()));
    }
  }
}
