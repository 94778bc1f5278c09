package io.dynamo.worker.wiring;

import io.dynamo.config.worker.EngineKind;
import io.dynamo.config.worker.WorkerSettings;
import io.dynamo.model.ModelDirectory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Names the parsers for a model's tool calls and reasoning, by Dynamo's names: from the settings,
 * else where the model's chat template identifies them beyond doubt. Templates are read only for an
 * engine that runs the model, since only it writes as the template does.
 */
final class ParserNames {
  private static final String NONE = "none";
  private static final List<String> OTHER_CALLS = List.of("<function=", "<parameter=", "<arg_key>");

  private ParserNames() {}

  /**
   * Returns the entries of a model card's {@code runtime_config}; no entry for a part that stays
   * plain text.
   *
   * @throws UncheckedIOException when the template cannot be read
   */
  static Map<String, String> of(ModelDirectory model, WorkerSettings settings) {
    var names = new LinkedHashMap<String, String>();
    var template = settings.engine() == EngineKind.LLAMA ? template(model) : "";
    put(names, "tool_call_parser", settings.toolCallParser(), toolCalls(template));
    put(names, "reasoning_parser", settings.reasoningParser(), reasoning(template));
    return names;
  }

  private static void put(
      Map<String, String> names, String key, @Nullable String set, @Nullable String shown) {
    var name = set == null ? shown : set;
    if (name != null && !name.equals(NONE)) {
      names.put(key, name);
    }
  }

  /**
   * Recognises a JSON object between tags; other formats use the same tags around their own syntax.
   */
  private static @Nullable String toolCalls(String template) {
    boolean hermes =
        template.contains("<tool_call>")
            && template.contains("arguments")
            && OTHER_CALLS.stream().noneMatch(template::contains);
    return hermes ? "hermes" : null;
  }

  private static @Nullable String reasoning(String template) {
    return template.contains("<think>") && template.contains("</think>") ? "qwen3" : null;
  }

  private static String template(ModelDirectory model) {
    var file = model.chatTemplate() == null ? model.tokenizerConfig() : model.chatTemplate();
    try {
      return Files.readString(Path.of(file.path()));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + file.path(), e);
    }
  }
}
