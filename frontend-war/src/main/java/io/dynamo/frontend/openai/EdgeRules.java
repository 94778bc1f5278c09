package io.dynamo.frontend.openai;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dynamo.config.ApiSettings;
import io.dynamo.frontend.openai.wire.RequestTemplate;
import io.dynamo.model.ModelCard;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * What the operator wants of every request, whatever its client says. Applied to what came in,
 * before it is read. Safe for concurrent use.
 */
public final class EdgeRules {
  private static final System.Logger LOG = System.getLogger(EdgeRules.class.getName());
  private static final String EXTENSION = "nvext";
  private static final String KEEP_TOOLS = "exclude_tools_when_tool_choice_none";

  private final ApiSettings settings;
  private final @Nullable RequestTemplate template;
  private final AtomicBoolean warned = new AtomicBoolean();

  /**
   * @throws IllegalArgumentException when the request template is of no use
   */
  public EdgeRules(ApiSettings settings) {
    this.settings = settings;
    var file = settings.requestTemplate();
    this.template = file == null ? null : RequestTemplate.read(file);
  }

  /**
   * The body as it is to be read; changed in place. A body that is no object is left for its reader
   * to refuse.
   */
  JsonNode applyTo(JsonNode body, Api api) {
    if (body instanceof ObjectNode request) {
      if (template != null && api instanceof ChatApi) {
        template.fill(request);
      }
      if (settings.ignoreUnknownFields()) {
        dropUnknown(request, api);
      }
      if (settings.forceUsage() && request.path("stream").asBoolean(false)) {
        forceUsage(request);
      }
      if (!settings.extension() && request.remove(EXTENSION) != null) {
        warnOfExtension();
      }
    }
    return body;
  }

  private static void dropUnknown(ObjectNode request, Api api) {
    request.properties().removeIf(field -> !api.knows(field.getKey()));
  }

  private static void forceUsage(ObjectNode request) {
    var options = request.get("stream_options");
    if (options == null || options.isNull()) {
      request.putObject("stream_options").put("include_usage", true);
    } else if (options instanceof ObjectNode given) {
      given.put("include_usage", true);
    }
  }

  /** The headers that may say where and how a request is served. */
  Map<String, String> routing(Map<String, String> headers) {
    if (settings.extension()) {
      return headers;
    }
    var left = new HashMap<>(headers);
    if (left.keySet().removeIf(CallHeaders::routes)) {
      warnOfExtension();
    }
    return left;
  }

  private void warnOfExtension() {
    if (warned.compareAndSet(false, true)) {
      LOG.log(
          Level.WARNING,
          "a request wants `nvext` or routing headers, which dynamo.frontend.nvext=false switches"
              + " off; they are dropped from all requests");
    }
  }

  /** The caller's own pairs. */
  Map<String, String> metadata(Map<String, String> headers) {
    return CallHeaders.metadata(headers, settings.metadataHeader());
  }

  /** Whether a model's template sees no tools that must not be called. */
  boolean hidesTools(ModelCard card) {
    return settings.hideTools() && !Boolean.FALSE.equals(card.runtimeConfig().get(KEEP_TOOLS));
  }

  /** What a message's thoughts are called. */
  String reasoningField() {
    return settings.reasoningField().wireName();
  }

  /** Silence before a comment, zero for none. */
  Duration keepAlive() {
    return settings.keepAlive();
  }

  @Nullable Integer contextWindow() {
    return settings.contextWindow();
  }

  @Nullable Integer maxOutputTokens() {
    return settings.maxOutputTokens();
  }
}
