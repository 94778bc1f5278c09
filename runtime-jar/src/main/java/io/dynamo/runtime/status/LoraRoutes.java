package io.dynamo.runtime.status;

import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import io.dynamo.pipeline.http.HttpAnswer;
import io.dynamo.pipeline.http.HttpCall;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Serves the adapter routes over HTTP by calling the engine's routes {@code load_lora}, {@code
 * unload_lora} and {@code list_loras}. Safe for concurrent use.
 */
final class LoraRoutes {
  private static final String[] MEMBERS = {
    "status", "message", "lora_name", "lora_id", "loras", "count"
  };

  private final EngineRoutes engine;

  LoraRoutes(EngineRoutes engine) {
    this.engine = engine;
  }

  /** GET /v1/loras. */
  HttpAnswer list() throws InterruptedException {
    return run("list_loras", null, Map.of());
  }

  /** POST /v1/loras. */
  HttpAnswer load(HttpCall call) throws InterruptedException {
    var type = call.header("content-type");
    if (type == null || !MediaTypes.isJson(type)) {
      return HttpAnswer.text(415, "Expected request with `Content-Type: application/json`");
    }
    Map<String, @Nullable Object> asked = new LinkedHashMap<>();
    try {
      var body = Json.readObject(call.body());
      asked.put("lora_name", body.text("lora_name"));
      asked.put("source", Map.of("uri", body.object("source").text("uri")));
      var model = body.optionalText("model"); // names the model, where a process serves several
      if (model != null) {
        asked.put("model", model);
      }
    } catch (IllegalArgumentException e) {
      return HttpAnswer.text(422, "The request body " + e.getMessage());
    }
    return run("load_lora", String.valueOf(asked.get("lora_name")), asked);
  }

  /** DELETE /v1/loras/{name}. */
  HttpAnswer unload(String name) throws InterruptedException {
    return run("unload_lora", name, Map.of("lora_name", name));
  }

  private HttpAnswer run(
      String route, @Nullable String name, Map<String, ? extends @Nullable Object> body)
      throws InterruptedException {
    var found = engine.find(route);
    if (found == null) {
      return failed(
          ("LoRA management not available: no '%s' handler is registered (neither a local LoRA"
                  + " endpoint nor an engine update). This worker either has LoRA disabled or its"
                  + " backend does not support LoRA management.")
              .formatted(route),
          name);
    }
    Map<String, ? extends @Nullable Object> outcome;
    try {
      outcome = found.handler().run(new JsonObject(new LinkedHashMap<>(body)));
    } catch (InterruptedException e) {
      throw e;
    } catch (Exception e) {
      return failed(String.valueOf(e.getMessage()), name);
    }
    Map<String, @Nullable Object> answer = new LinkedHashMap<>();
    for (var member : MEMBERS) {
      var value = outcome.get(member);
      if (value != null) {
        answer.put(member, value);
      }
    }
    boolean well = !"error".equals(answer.get("status"));
    return HttpAnswer.of(well ? 200 : 500, "application/json", Json.write(answer));
  }

  private static HttpAnswer failed(String message, @Nullable String name) {
    Map<String, @Nullable Object> answer = new LinkedHashMap<>();
    answer.put("status", "error");
    answer.put("message", message);
    if (name != null) {
      answer.put("lora_name", name);
    }
    return HttpAnswer.of(500, "application/json", Json.write(answer));
  }
}
