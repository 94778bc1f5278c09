package io.dynamo.worker.wiring;

import io.dynamo.config.worker.EngineKind;
import io.dynamo.config.worker.WorkerSettings;
import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import io.dynamo.model.ModelDirectory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Names the parsers for a model's tool calls and reasoning, by Dynamo's names: from the settings,
 * else where the model's chat template identifies them beyond doubt, or its type where it has none.
 * Both are read only for an engine that runs the model, since only it writes as they say.
 */
final class ParserNames {
  private static final String NONE = "none";

  private ParserNames() {}

  /**
   * Returns the entries of a model card's {@code runtime_config}; no entry for a part that stays
   * plain text.
   *
   * @throws UncheckedIOException when the template cannot be read
   */
  static Map<String, String> of(ModelDirectory model, WorkerSettings settings) {
    var names = new LinkedHashMap<String, String>();
    boolean runs = runsTheModel(settings.engine());
    var template = runs ? template(model) : "";
    var own = runs ? withoutTemplate(model.modelType(), template) : null;
    put(
        names,
        "tool_call_parser",
        settings.toolCallParser(),
        own == null ? TemplateFamily.toolCalls(template) : own);
    put(
        names,
        "reasoning_parser",
        settings.reasoningParser(),
        own == null ? TemplateFamily.reasoning(template) : own);
    return names;
  }

  /** The parsers of a model whose prompts the frontend writes without template; null for others. */
  private static @Nullable String withoutTemplate(@Nullable String modelType, String template) {
    return switch (modelType) {
      case "kimi_k3" -> "kimi_k3"; // a template beside it or not
      case "deepseek_v32", "deepseek_v3_2" -> template.isEmpty() ? "deepseek_v3_2" : null;
      case "deepseek_v4" -> template.isEmpty() ? "deepseek_v4" : null;
      case null, default -> null;
    };
  }

  private static void put(
      Map<String, String> names, String key, @Nullable String set, @Nullable String shown) {
    var name = set == null ? shown : set;
    if (name != null && !name.equals(NONE)) {
      names.put(key, name);
    }
  }

  /** Whether the engine runs the model: only then does it write as the model's template does. */
  private static boolean runsTheModel(EngineKind engine) {
    return switch (engine) {
      case LLAMA, LLAMACPP, VLLM, SGLANG, TRTLLM, OPENAI -> true;
      case MOCK, ECHO -> false;
    };
  }

  /** Returns the text of the model's chat templates; empty without one. */
  private static String template(ModelDirectory model) {
    var separate = model.chatTemplate();
    var file = Path.of((separate == null ? model.tokenizerConfig() : separate).path());
    try {
      var text = Files.readString(file);
      return file.toString().endsWith(".json")
          ? member(Json.readObject(text.getBytes(StandardCharsets.UTF_8)))
          : text;
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + file, e);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(file + ": " + e.getMessage(), e);
    }
  }

  /** Returns the template of a JSON file, or all of a list of named ones. */
  private static String member(JsonObject file) {
    var templates = new StringBuilder();
    switch (file.members().get("chat_template")) {
      case String text -> templates.append(text);
      case List<?> named -> {
        for (var one : named) {
          if (one instanceof Map<?, ?> map && map.get("template") instanceof String text) {
            templates.append(text).append('\n');
          }
        }
      }
      case null, default -> {}
    }
    return templates.toString();
  }
}
