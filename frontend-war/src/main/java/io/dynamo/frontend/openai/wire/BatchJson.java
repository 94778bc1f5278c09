package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.batches.BatchLines.InputError;
import io.dynamo.frontend.batches.BatchLines.Line;
import io.dynamo.frontend.batches.BatchLines.Outcome;
import io.dynamo.frontend.batches.Listing;
import io.dynamo.frontend.batches.MalformedLineException;
import io.dynamo.frontend.batches.StoredBatch;
import io.dynamo.frontend.batches.StoredFile;
import io.dynamo.frontend.sse.ByteText;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Writes files, batches and the lines of batches as OpenAI does, and reads such lines. */
public final class BatchJson {
  private static final List<String> LINE_FIELDS = List.of("custom_id", "method", "url", "body");
  private static final int MAX_CUSTOM_ID = 512;
  private static final byte[] NULL = "null".getBytes(StandardCharsets.US_ASCII);

  private BatchJson() {}

  public static byte[] file(StoredFile file) {
    return write(fileNode(file));
  }

  private static ObjectNode fileNode(StoredFile file) {
    return object("file", file.id())
        .put("bytes", file.bytes())
        .put("created_at", file.createdMillis() / 1000)
        .put("expires_at", file.expiresMillis() / 1000)
        .put("filename", file.name())
        .put("purpose", file.purpose())
        .put("status", "processed");
  }

  public static byte[] deleted(String id) {
    return write(object("file", id).put("deleted", true));
  }

  public static byte[] files(Listing.Entries<StoredFile> page) {
    return page(page, BatchJson::fileNode);
  }

  public static byte[] batches(Listing.Entries<StoredBatch> page) {
    return page(page, BatchJson::batchNode);
  }

  private static <T> byte[] page(Listing.Entries<T> page, Function<T, ObjectNode> entry) {
    var nodes = page.entries().stream().map(entry).toList();
    var list = JsonText.MAPPER.createObjectNode().put("object", "list");
    list.putArray("data").addAll(nodes);
    list.set("first_id", nodes.isEmpty() ? null : nodes.getFirst().get("id"));
    list.set("last_id", nodes.isEmpty() ? null : nodes.getLast().get("id"));
    return write(list.put("has_more", page.hasMore()));
  }

  public static byte[] batch(StoredBatch batch) {
    return write(batchNode(batch));
  }

  private static ObjectNode batchNode(StoredBatch batch) {
    boolean over = batch.status().isOver();
    var node = object("batch", batch.id()).put("endpoint", batch.endpoint());
    if (batch.errors().isEmpty()) {
      node.putNull("errors");
    } else {
      node.putObject("errors").put("object", "list").set("data", stored(batch.errors()));
    }
    node.put("input_file_id", batch.inputFile())
        .put("completion_window", batch.window())
        .put("status", batch.status().label())
        .put("output_file_id", over && !batch.outputFile().isEmpty() ? batch.outputFile() : null)
        .put("error_file_id", over && !batch.errorFile().isEmpty() ? batch.errorFile() : null)
        .put("created_at", batch.createdMillis() / 1000);
    time(node, "in_progress_at", batch.startedMillis());
    time(node, "expires_at", batch.expiresMillis());
    long ended = batch.endedMillis();
    boolean ran = batch.startedMillis() > 0;
    time(node, "finalizing_at", ran ? ended : 0);
    switch (batch.status()) {
      case COMPLETED -> time(node, "completed_at", ended);
      case FAILED -> time(node, "failed_at", ended);
      case EXPIRED -> time(node, "expired_at", ended);
      case CANCELLED -> time(node, "cancelled_at", ended);
      case VALIDATING, IN_PROGRESS, FINALIZING, CANCELLING -> {
        // not over
      }
    }
    for (var name : List.of("completed_at", "failed_at", "expired_at", "cancelled_at")) {
      if (!node.has(name)) {
        node.putNull(name);
      }
    }
    time(node, "cancelling_at", batch.cancellingMillis());
    node.putObject("request_counts")
        .put("total", batch.total())
        .put("completed", batch.completed())
        .put("failed", batch.failed());
    node.set("metadata", batch.metadata().isEmpty() ? null : stored(batch.metadata()));
    return node;
  }

  private static void time(ObjectNode node, String name, long millis) {
    if (millis == 0) {
      node.putNull(name);
    } else {
      node.put(name, millis / 1000);
    }
  }

  private static ObjectNode object(String type, String id) {
    return JsonText.MAPPER.createObjectNode().put("id", id).put("object", type);
  }

  /** JSON that was written here. */
  private static JsonNode stored(String json) {
    try {
      return JsonText.parse(json);
    } catch (JsonText.Malformed e) {
      throw new IllegalStateException("stored JSON cannot be read", e);
    }
  }

  /**
   * Reads the line of a request.
   *
   * @throws MalformedLineException when it is none
   */
  public static Line line(byte[] text, String endpoint) throws MalformedLineException {
    JsonNode line;
    try {
      line = JsonText.parse(new String(text, StandardCharsets.UTF_8));
    } catch (JsonText.Malformed e) {
      throw new MalformedLineException("invalid_json_line", "is no JSON: " + e.fault() + e.place());
    }
    if (!line.isObject()) {
      throw new MalformedLineException("invalid_json_line", "is no JSON object");
    }
    for (var field : line.properties()) {
      if (!LINE_FIELDS.contains(field.getKey())) {
        throw new MalformedLineException(
            "unknown_field",
            "has the unknown field `%s`; known are %s"
                .formatted(JsonFields.clipped(field.getKey()), String.join(", ", LINE_FIELDS)));
      }
    }
    var id = line.path("custom_id");
    if (!id.isTextual() || id.textValue().isEmpty() || id.textValue().length() > MAX_CUSTOM_ID) {
      throw new MalformedLineException(
          "invalid_custom_id",
          "`custom_id` must be a text of 1 to " + MAX_CUSTOM_ID + " characters");
    }
    if (!line.path("method").asText("").equals("POST")) {
      throw new MalformedLineException("invalid_method", "`method` must be \"POST\"");
    }
    if (!line.path("url").asText("").equals(endpoint)) {
      throw new MalformedLineException(
          "mismatched_url", "`url` must be the endpoint of the batch, \"%s\"".formatted(endpoint));
    }
    var body = line.path("body");
    if (!body.isObject()) {
      throw new MalformedLineException("invalid_body", "`body` must be an object");
    }
    if (body.path("stream").asBoolean(false)) {
      throw new MalformedLineException(
          "invalid_body", "`body.stream` is true, but answers of batches are whole");
    }
    return new Line(id.textValue(), write(body));
  }

  /** Writes the line of an answer. The answer, JSON that was written here, is not parsed again. */
  public static byte[] result(Line line, Outcome outcome) {
    var text = new ByteText(outcome.body().length + 256);
    begin(text, line.customId()).ascii(",\"response\":{\"status_code\":").number(outcome.status());
    text.ascii(",\"request_id\":").quoted(outcome.requestId()).ascii(",\"body\":");
    text.append(outcome.body().length == 0 ? NULL : inOneLine(outcome.body()));
    return text.ascii("},\"error\":null}\n").toByteArray();
  }

  /** Replaces line ends, which JSON has between values only, by spaces. */
  private static byte[] inOneLine(byte[] json) {
    for (int i = 0; i < json.length; i++) {
      if (json[i] == '\n' || json[i] == '\r') {
        var copy = json.clone();
        for (int j = i; j < copy.length; j++) {
          copy[j] = copy[j] == '\n' || copy[j] == '\r' ? (byte) ' ' : copy[j];
        }
        return copy;
      }
    }
    return json;
  }

  /**
   * Writes the line of a request that has no answer.
   *
   * @param customId null when it could not be read
   */
  public static byte[] error(@Nullable String customId, String code, String message) {
    var text = begin(new ByteText(256), customId).ascii(",\"response\":null,\"error\":{\"code\":");
    return text.quoted(code).ascii(",\"message\":").quoted(message).ascii("}}\n").toByteArray();
  }

  private static ByteText begin(ByteText text, @Nullable String customId) {
    text.ascii("{\"id\":\"batch_req_").ascii(UUID.randomUUID().toString().replace("-", ""));
    text.ascii("\",\"custom_id\":");
    return customId == null ? text.append(NULL) : text.quoted(customId);
  }

  /** Writes what is wrong with an input as a JSON list. */
  public static String errors(List<InputError> errors) {
    var list = JsonText.MAPPER.createArrayNode();
    for (var error : errors) {
      var node =
          list.addObject()
              .put("code", error.code())
              .put("message", error.message())
              .putNull("param");
      if (error.line() > 0) {
        node.put("line", error.line());
      } else {
        node.putNull("line");
      }
    }
    return new String(write(list), StandardCharsets.UTF_8);
  }

  private static byte[] write(JsonNode node) {
    try {
      return JsonText.MAPPER.writeValueAsBytes(node);
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e); // a tree in memory can be written
    }
  }

  /** The field of a form as a whole number. */
  public static @Nullable Long seconds(@Nullable String text, long min, long max, String name) {
    if (text == null) {
      return null;
    }
    if (!text.matches("\\d{1,10}") || Long.parseLong(text) < min || Long.parseLong(text) > max) {
      throw new ApiException(
          400,
          "`%s` is \"%s\", but must be a number from %d to %d"
              .formatted(name, JsonFields.clipped(text), min, max));
    }
    return Long.valueOf(text);
  }
}
