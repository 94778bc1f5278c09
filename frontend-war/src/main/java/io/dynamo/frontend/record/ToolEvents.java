package io.dynamo.frontend.record;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.event.RawStreams;
import io.dynamo.wire.MsgpackDecoder;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Reads reports of the use of tools, as Dynamo takes them: a topic, a number of eight bytes, and a
 * record in MessagePack. Fields that Dynamo does not know are left out. For one thread.
 */
final class ToolEvents implements RawStreams.Listener {
  /** The frames of a report. */
  static final int FRAMES = 3;

  /** The most bytes of a frame, for the connections that reports come by. */
  static final int MAX_BYTES = 64 << 10;

  private static final String SCHEMA = "dynamo.request.trace.v1";
  private static final Set<String> TYPES = Set.of("tool_start", "tool_end", "tool_error");
  private static final Map<String, String> STATUSES =
      Map.of(
          "running", "running",
          "succeeded", "succeeded",
          "ok", "succeeded",
          "success", "succeeded",
          "error", "error",
          "failed", "error",
          "cancelled", "cancelled",
          "canceled", "cancelled",
          "timeout", "cancelled");
  private static final int MAX_CHARS = 1024; // of a text of a report

  private final MsgpackDecoder<Map<?, ?>> decoder =
      new MsgpackDecoder<>(in -> in.any() instanceof Map<?, ?> fields ? fields : Map.of());
  private final byte[] topic;
  private final Consumer<ToolRecord> records;

  /**
   * @param topic of the reports that are taken; others are for somebody else
   */
  ToolEvents(String topic, Consumer<ToolRecord> records) {
    this.topic = topic.getBytes(StandardCharsets.UTF_8);
    this.records = records;
  }

  @Override
  public void message(byte[][] frames) throws IOException {
    if (Arrays.equals(topic, frames[0])) {
      records.accept(record(frames[2]));
    }
  }

  private ToolRecord record(byte[] report) throws IOException {
    var fields = fields(report);
    if (!(fields.get("tool") instanceof Map<?, ?> use)) {
      throw new IOException("a report that is no map with the map tool");
    }
    if (!SCHEMA.equals(fields.get("schema"))) {
      throw new IOException("a report whose schema is not " + SCHEMA);
    }
    var type = text(fields, "event_type");
    if (!TYPES.contains(type)) {
      throw new IOException("a report whose event_type is none of " + TYPES);
    }
    var session = new LinkedHashMap<String, String>();
    session.put("session_id", text(fields, "session_id"));
    if (fields.get("parent_session_id") != null) {
      session.put("parent_session_id", text(fields, "parent_session_id"));
    }
    return new ToolRecord(type, count(fields, "event_time_unix_ms"), session, tool(use));
  }

  private Map<?, ?> fields(byte[] report) throws IOException {
    try {
      return decoder.decode(ByteBuffer.wrap(report));
    } catch (InvalidRequestException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  private static Map<String, Object> tool(Map<?, ?> use) throws IOException {
    var tool = new LinkedHashMap<String, Object>();
    for (var name : new String[] {"tool_call_id", "tool_class"}) {
      tool.put(name, text(use, name));
    }
    counts(use, tool, "started_at_unix_ms", "ended_at_unix_ms");
    if (use.get("status") != null) {
      var status = STATUSES.get(text(use, "status"));
      if (status == null) {
        throw new IOException("a status that is not known");
      }
      tool.put("status", status);
    }
    var duration = use.get("duration_ms");
    if (duration != null) {
      if (!(duration instanceof Number millis) || !Double.isFinite(millis.doubleValue())) {
        throw new IOException("a duration_ms that is no number");
      }
      tool.put("duration_ms", millis.doubleValue());
    }
    counts(use, tool, "output_tokens", "output_bytes");
    for (var name : new String[] {"tool_name_hash", "error_type"}) {
      if (use.get(name) != null) {
        tool.put(name, text(use, name));
      }
    }
    return tool;
  }

  private static void counts(Map<?, ?> from, Map<String, Object> to, String... names)
      throws IOException {
    for (var name : names) {
      if (from.get(name) != null) {
        to.put(name, count(from, name));
      }
    }
  }

  private static long count(Map<?, ?> fields, String name) throws IOException {
    if (fields.get(name) instanceof Long count && count >= 0) {
      return count;
    }
    throw new IOException(name + " is no number from 0 on");
  }

  private static String text(Map<?, ?> fields, String name) throws IOException {
    if (fields.get(name) instanceof String text && text.length() <= MAX_CHARS) {
      return text;
    }
    throw new IOException("%s is no text of %d characters at most".formatted(name, MAX_CHARS));
  }

  @Override
  public void up() {
    // reports are not asked for
  }

  @Override
  public void cut() {
    // as above
  }
}
