package io.dynamo.worker.control;

import io.dynamo.json.JsonObject;
import io.dynamo.runtime.status.EngineRoutes;
import io.dynamo.runtime.status.Registered;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * Offers the operator commands of all models of this process on its status server. Where there are
 * several models, the body's {@code model} names one. Safe for concurrent use.
 */
public final class EngineCommands implements AutoCloseable {
  private final List<ModelControls> models;
  private final Deque<Registered> routes = new ArrayDeque<>();

  /** Registers the commands as routes of {@code to}. */
  public EngineCommands(EngineRoutes to, List<ModelControls> models) {
    this.models = List.copyOf(models);
    if (models.isEmpty()) {
      return; // workers that only embed have no commands
    }
    add(to, "control/sleep", ModelControls::sleep);
    add(to, "control/wake_up", (model, _) -> model.wakeUp());
    routes.push(to.addQuestion("control/is_sleeping", ofModel((model, _) -> model.isSleeping())));
    add(to, "control/clear_kv_blocks", (model, _) -> model.clearKvBlocks());
    add(to, "update/model_taints", ModelControls::updateTaints);
    if (models.stream().anyMatch(model -> model.adapters().isEnabled())) {
      add(to, "load_lora", ModelControls::loadLora);
      routes.push(to.add("unload_lora", this::unloadLora));
      routes.push(to.addQuestion("list_loras", _ -> listLoras()));
    }
  }

  private void add(
      EngineRoutes to,
      String path,
      BiFunction<ModelControls, JsonObject, Map<String, @Nullable Object>> command) {
    routes.push(to.add(path, ofModel(command)));
  }

  private EngineRoutes.Handler ofModel(
      BiFunction<ModelControls, JsonObject, Map<String, @Nullable Object>> command) {
    return body -> {
      var model = find(body.optionalText("model"));
      return model == null ? unknown(body) : command.apply(model, body);
    };
  }

  private @Nullable ModelControls find(@Nullable String name) {
    if (name == null) {
      return models.size() == 1 ? models.getFirst() : null;
    }
    return models.stream().filter(model -> model.model().equals(name)).findFirst().orElse(null);
  }

  private Map<String, @Nullable Object> unknown(JsonObject body) {
    var names = models.stream().map(ModelControls::model).toList();
    var asked = body.members().get("model");
    return ModelControls.error(
        asked == null
            ? "several models are served here; say \"model\", one of " + names
            : "no model '%s' is served here; one of %s".formatted(asked, names));
  }

  /** Unloads an adapter; when the body names no model, from the one model that has the adapter. */
  private Map<String, @Nullable Object> unloadLora(JsonObject body) {
    var model = find(body.optionalText("model"));
    var name = body.optionalText("lora_name");
    if (model == null && name != null && body.members().get("model") == null) {
      var holders = new ArrayList<>(models);
      holders.removeIf(each -> !each.adapters().has(name));
      model = holders.size() == 1 ? holders.getFirst() : null;
    }
    return model == null ? unknown(body) : model.unloadLora(body);
  }

  /** Lists the adapters of all models. */
  private Map<String, @Nullable Object> listLoras() {
    var ids = new LinkedHashMap<String, Integer>();
    models.forEach(model -> ids.putAll(model.adapters().ids()));
    return JsonObject.ordered("status", "success", "loras", ids, "count", ids.size());
  }

  /** Removes the commands' routes. Idempotent. */
  @Override
  public void close() {
    while (!routes.isEmpty()) {
      routes.pop().close();
    }
  }
}
