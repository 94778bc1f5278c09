package io.dynamo.frontend.openai;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dynamo.config.frontend.ApiSettings;
import io.dynamo.config.frontend.DispatchEvents;
import io.dynamo.frontend.openai.wire.RequestTemplate;
import io.dynamo.model.ModelCard;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Applies the operator's settings to each request before it is read: a template, forced usage,
 * ignored fields. Safe for concurrent use.
 */
public final class EdgeRules {
  private static final System.Logger LOG = System.getLogger(EdgeRules.class.getName());
  private static final String EXTENSION = "nvext";
  private static final String KEEP_TOOLS = "exclude_tools_when_tool_choice_none";

  private final ApiSettings settings;
  private final @Nullable RequestTemplate template;
  private final AtomicBoolean warned = new AtomicBoolean();

  /**
   * @throws IllegalArgumentException when the request template cannot be read
   */
  public EdgeRules(ApiSettings settings) {
    this.settings = settings;
    var file = settings.requestTemplate();
    this.template = file == null ? null : RequestTemplate.read(file);
  }

  /**
   * Changes the body in place and returns it. A body that is no object stays as it is; its reader
   * refuses it.
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

  /** The headers without routing headers, when these are switched off. */
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

  /** The caller's metadata from its headers. */
  Map<String, String> metadata(Map<String, String> headers) {
    return CallHeaders.metadata(headers, settings.metadataHeader());
  }

  /** Whether a model's template gets no tools when {@code tool_choice} is {@code none}. */
  boolean hidesTools(ModelCard card) {
    return settings.hideTools() && !Boolean.FALSE.equals(card.runtimeConfig().get(KEEP_TOOLS));
  }

  /** The name of the field for a message's thoughts. */
  String reasoningField() {
    return settings.reasoningField().wireName();
  }

  /** The events of chat streams beside the chunks. */
  DispatchEvents dispatches() {
    return settings.dispatches();
  }

  /** The idle time after which a stream gets a comment; zero for none. */
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
