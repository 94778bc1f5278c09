package io.dynamo.frontend.record;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.dynamo.config.plane.NatsSettings;
import io.dynamo.config.plane.NatsSettings.NatsIdentity;
import io.dynamo.config.plane.NatsSettings.NatsTlsSettings;
import io.dynamo.config.watch.RecordSinkSettings;
import io.dynamo.config.watch.TraceSettings;
import io.dynamo.frontend.sse.ByteText;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** Settings of servers that records may go to. */
public final class TestSinks {
  /** Settings that name servers which nobody asks. */
  public static final RecordSinkSettings SETTINGS =
      new RecordSinkSettings(
          "dynamo.request_trace.v1", URI.create("http://127.0.0.1:1/v1/logs"), 1 << 20, null);

  /** Servers which nobody asks. */
  public static final RequestRecords.Servers SERVERS = servers(URI.create("nats://127.0.0.1:1"));

  private TestSinks() {}

  static RequestRecords.Servers servers(URI nats) {
    return new RequestRecords.Servers(
        new NatsSettings(
            List.of(nats),
            new NatsIdentity.User("", ""),
            new NatsTlsSettings(null, false, null, null),
            Duration.ofSeconds(5),
            null),
        new TraceSettings(
            false,
            URI.create("http://127.0.0.1:1/v1/traces"),
            Map.of("authorization", "Bearer t"),
            Duration.ofSeconds(10),
            "dynamo-test",
            1));
  }

  static PayloadRecord payload(String id, int textBytes) {
    var text = ("\"" + "x".repeat(textBytes) + "\"").getBytes(UTF_8);
    return new PayloadRecord(id, "openai.completion", "tiny", text, null, Map.of(), null, 1_000);
  }

  static byte[] json(TraceRecord record) {
    var json = new ByteText(256);
    record.appendTo(json);
    return json.toByteArray();
  }
}
