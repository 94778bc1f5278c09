package io.dynamo.frontend.record;

import io.dynamo.frontend.sse.ByteText;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The record of a request and its answer, in the form of Dynamo's request traces ({@code
 * dynamo.request.trace.v1}, event {@code request_payload}).
 *
 * @param endpoint the API, as {@code openai.chat_completion}
 * @param request as JSON in UTF-8; null when it was left out
 * @param answer likewise
 * @param headers those of the request that are recorded, by lower-case name
 * @param lost the reason why a part is missing; null when none is
 * @param arrivalMillis UNIX time
 */
record PayloadRecord(
    String requestId,
    String endpoint,
    String model,
    byte @Nullable [] request,
    byte @Nullable [] answer,
    Map<String, String> headers,
    @Nullable String lost,
    long arrivalMillis)
    implements TraceRecord {
  private static final long BYTES = 512; // of memory, without the texts

  @Override
  public long bytes() {
    long bytes = BYTES + length(request) + length(answer);
    for (var header : headers.entrySet()) {
      bytes += 2L * (header.getKey().length() + header.getValue().length());
    }
    return bytes;
  }

  private static int length(byte @Nullable [] json) {
    return json == null ? 0 : json.length;
  }

  @Override
  public String eventType() {
    return "request_payload";
  }

  @Override
  public long eventMillis() {
    return arrivalMillis;
  }

  @Override
  public PayloadRecord withoutContent(String reason) {
    return new PayloadRecord(
        requestId, endpoint, model, null, null, Map.of(), reason, arrivalMillis);
  }

  @Override
  public void appendTo(ByteText json) {
    json.ascii("{\"schema\":\"dynamo.request.trace.v1\",\"event_type\":\"request_payload\",");
    json.ascii("\"event_time_unix_ms\":").number(arrivalMillis);
    json.ascii(",\"event_source\":\"dynamo\",\"payload\":{\"request_id\":").quoted(requestId);
    json.ascii(",\"endpoint\":").quoted(endpoint).ascii(",\"model\":").quoted(model);
    json.ascii(",\"request\":");
    if (request == null) {
      json.ascii("null");
    } else {
      json.append(request);
    }
    if (answer != null) {
      json.ascii(",\"response\":").append(answer);
    }
    if (!headers.isEmpty()) {
      json.ascii(",\"http_request_headers\":{");
      var separator = "";
      for (var header : headers.entrySet()) {
        json.ascii(separator).quoted(header.getKey()).ascii(":").quoted(header.getValue());
        separator = ",";
      }
      json.ascii("}");
    }
    json.ascii(",\"payload_complete\":").ascii(Boolean.toString(lost == null));
    if (lost != null) {
      json.ascii(",\"payload_drop_reason\":").quoted(lost);
    }
    json.ascii("}}");
  }
}
