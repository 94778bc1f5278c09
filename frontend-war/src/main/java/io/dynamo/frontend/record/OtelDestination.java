package io.dynamo.frontend.record;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.dynamo.config.watch.TraceSettings;
import io.dynamo.frontend.sse.ByteText;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Exports records as OpenTelemetry's log records: OTLP over HTTP, as JSON. */
final class OtelDestination implements Destination {
  private static final Batch BATCH = new Batch(1 << 20, Duration.ofSeconds(1));
  private static final int INFO = 9; // OpenTelemetry's number of the severity

  private final UploadClient client = new UploadClient();
  private final URI endpoint;
  private final int maxPayload;
  private final TraceSettings settings;
  private final byte[] head;

  /**
   * @param maxPayload bytes of a record; a larger one is sent without request and answer
   * @param settings the service's name, and the headers and the timeout of exports
   */
  OtelDestination(URI endpoint, int maxPayload, TraceSettings settings) {
    this.endpoint = endpoint;
    this.maxPayload = maxPayload;
    this.settings = settings;
    var json = new ByteText(256);
    json.ascii("{\"resourceLogs\":[{\"resource\":{\"attributes\":[");
    attribute(json, "service.name", settings.serviceName());
    json.ascii("]},\"scopeLogs\":[{\"scope\":{\"name\":\"dynamo.request_trace\"},\"logRecords\":[");
    this.head = json.toByteArray();
  }

  @Override
  public Batch batch() {
    return BATCH;
  }

  @Override
  public byte @Nullable [] entry(TraceRecord record, byte[] json) {
    if (json.length <= maxPayload) {
      return logRecord(record, json, null);
    }
    var reason =
        "otel_payload_too_large:max_bytes=%d:actual_bytes=%d".formatted(maxPayload, json.length);
    var rest = record.withoutContent(reason);
    if (rest == null) {
      return null;
    }
    var marker = new ByteText(512);
    rest.appendTo(marker);
    return logRecord(rest, marker.toByteArray(), reason);
  }

  private static byte[] logRecord(TraceRecord record, byte[] json, @Nullable String dropped) {
    var log = new ByteText(json.length + 512);
    log.ascii("{\"timeUnixNano\":\"");
    log.number(TimeUnit.MILLISECONDS.toNanos(record.eventMillis()));
    log.ascii("\",\"observedTimeUnixNano\":\"");
    log.number(TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis()));
    log.ascii("\",\"severityNumber\":").number(INFO).ascii(",\"severityText\":\"INFO\",");
    log.ascii("\"body\":{\"stringValue\":").quoted(record.eventType()).ascii("},\"attributes\":[");
    attribute(log, "schema", "dynamo.request.trace.v1");
    attribute(log.ascii(","), "event_type", record.eventType());
    if (!record.requestId().isEmpty()) {
      attribute(log.ascii(","), "rid", record.requestId());
      attribute(log.ascii(","), "model", record.model());
    }
    var endpoint = record.endpoint();
    if (endpoint != null) {
      attribute(log.ascii(","), "endpoint", endpoint);
    }
    log.ascii(",{\"key\":\"payload_complete\",\"value\":{\"boolValue\":");
    log.ascii(Boolean.toString(dropped == null)).ascii("}}");
    if (dropped != null) {
      attribute(log.ascii(","), "payload_drop_reason", dropped);
    }
    attribute(log.ascii(","), "payload", new String(json, UTF_8));
    return log.ascii("]}").toByteArray();
  }

  private static void attribute(ByteText json, String key, String value) {
    json.ascii("{\"key\":").quoted(key).ascii(",\"value\":{\"stringValue\":").quoted(value);
    json.ascii("}}");
  }

  @Override
  public int send(List<byte[]> entries) throws IOException, InterruptedException {
    var body = new ByteText(head.length + 64);
    body.append(head);
    for (int i = 0; i < entries.size(); i++) {
      body.ascii(i == 0 ? "" : ",").append(entries.get(i));
    }
    body.append("]}]}]}".getBytes(US_ASCII));
    var request =
        HttpRequest.newBuilder(endpoint)
            .timeout(settings.timeout())
            .POST(HttpRequest.BodyPublishers.ofByteArray(body.toByteArray()));
    settings.headers().forEach(request::header);
    int status = client.send(request.header("content-type", "application/json").build());
    if (status / 100 == 2) {
      return 0;
    }
    throw new IOException("the collector at %s answers %d".formatted(endpoint, status));
  }

  @Override
  public void close() {
    client.close();
  }
}
