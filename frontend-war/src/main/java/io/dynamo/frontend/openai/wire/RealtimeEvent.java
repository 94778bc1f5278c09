package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.frontend.ApiException;
import io.dynamo.inference.BodyTask;
import io.dynamo.inference.TaskOutput;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * An event that a client of a realtime session sends.
 *
 * @param type {@code session.update} for example
 * @param id the client's own; null for none
 */
public record RealtimeEvent(String type, @Nullable String id, JsonNode body) {
  private static final String UPDATE = "session.update";

  /** Reads an event; returns null when the text is none. */
  public static @Nullable RealtimeEvent read(String text) {
    JsonNode body;
    try {
      body = JsonBody.parse(text.getBytes(StandardCharsets.UTF_8));
    } catch (ApiException malformed) {
      return null;
    }
    var type = body.path("type");
    if (!body.isObject() || !type.isTextual()) {
      return null;
    }
    if (type.textValue().equals(UPDATE) && !body.path("session").isObject()) {
      return null;
    }
    var id = body.path("event_id");
    return new RealtimeEvent(type.textValue(), id.isTextual() ? id.textValue() : null, body);
  }

  /** Whether the event sets the session up. */
  public boolean isUpdate() {
    return type.equals(UPDATE);
  }

  /** The model that an update names, or the one of its transcriptions; null for none. */
  public @Nullable String model() {
    var session = body.path("session");
    var model = session.path("model");
    if (!model.isTextual() || model.textValue().isEmpty()) {
      model = session.path("audio").path("input").path("transcription").path("model");
    }
    return model.isTextual() && !model.textValue().isEmpty() ? model.textValue() : null;
  }

  /** The event as a worker gets it. */
  public BodyTask task() {
    return new BodyTask(JsonFields.plainMap(body));
  }

  /** The event that begins a session, as UTF-8 JSON. */
  public static byte[] created() {
    var event = JsonNodeFactory.instance.objectNode();
    event.put("type", "session.created").put("event_id", newId());
    event.putObject("session").put("type", "realtime");
    return event.toString().getBytes(StandardCharsets.UTF_8);
  }

  /**
   * An event that reports an error, as UTF-8 JSON.
   *
   * @param cause the id of the client's event; null for none
   */
  public static byte[] error(
      String type,
      @Nullable String code,
      String message,
      @Nullable String param,
      @Nullable String cause) {
    var event = JsonNodeFactory.instance.objectNode();
    event.put("type", "error").put("event_id", newId());
    event
        .putObject("error")
        .put("type", type)
        .put("code", code)
        .put("message", message)
        .put("param", param)
        .put("event_id", cause);
    return event.toString().getBytes(StandardCharsets.UTF_8);
  }

  /**
   * A worker's event as UTF-8 JSON.
   *
   * @throws EngineFailedException when it is none
   */
  public static byte[] write(TaskOutput item) {
    if (!(item.json() instanceof Map<?, ?> event && event.get("type") instanceof String)) {
      throw new EngineFailedException(
          ErrorCode.BACKEND_UNKNOWN, "the worker's item is no event: it has no text `type`", null);
    }
    try {
      return JsonBody.write(event);
    } catch (JsonProcessingException e) {
      throw new EngineFailedException(
          ErrorCode.BACKEND_UNKNOWN, "the worker's event cannot be written as JSON", e);
    }
  }

  private static String newId() {
    return "event_" + UUID.randomUUID();
  }
}
