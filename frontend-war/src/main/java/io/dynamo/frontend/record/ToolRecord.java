package io.dynamo.frontend.record;

import io.dynamo.frontend.sse.ByteText;
import java.util.Map;

/**
 * The record of a tool's use, in the form of Dynamo's request traces ({@code
 * dynamo.request.trace.v1}, events {@code tool_start}, {@code tool_end} and {@code tool_error}).
 *
 * @param eventMillis UNIX time, as the program says that used the tool
 * @param session names and ids of the session and of the one that started it
 * @param tool the fields of the record: texts and numbers
 */
record ToolRecord(
    String eventType, long eventMillis, Map<String, String> session, Map<String, Object> tool)
    implements TraceRecord {
  private static final int BYTES = 512; // of memory, without the texts

  ToolRecord {
    session = Map.copyOf(session);
  }

  @Override
  public long bytes() {
    long bytes = BYTES;
    for (var id : session.values()) {
      bytes += 2L * id.length();
    }
    for (var value : tool.values()) {
      bytes += value instanceof String text ? 2L * text.length() : Long.BYTES;
    }
    return bytes;
  }

  @Override
  public String requestId() {
    return "";
  }

  @Override
  public String model() {
    return "";
  }

  @Override
  public void appendTo(ByteText json) {
    json.ascii("{\"schema\":\"dynamo.request.trace.v1\",\"event_type\":").quoted(eventType);
    json.ascii(",\"event_time_unix_ms\":").number(eventMillis);
    json.ascii(",\"event_source\":\"harness\"");
    RecordText.object(json.ascii(",\"agent_context\":"), session);
    RecordText.object(json.ascii(",\"tool\":"), tool);
    json.ascii("}");
  }
}
