package io.dynamo.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.config.watch.RequestTraceSettings;
import io.dynamo.testing.TestSettings;
import java.net.URI;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RecordSinkKeysTest {
  private static final String PREFIX = "dynamo.frontend.request-trace.";
  private static final Map<String, String> S3 =
      Map.of(
          PREFIX + "enabled", "true",
          PREFIX + "sinks", "nats,otel,s3",
          PREFIX + "s3-bucket", "traces",
          PREFIX + "s3-access-key", "AKID",
          PREFIX + "s3-secret-key", "hidden");

  private static RequestTraceSettings read(Map<String, String> settings) {
    return TestSettings.with(settings).watch().requestTrace();
  }

  private static Map<String, String> with(String name, String value) {
    var settings = new HashMap<>(S3);
    settings.put(PREFIX + name, value);
    return settings;
  }

  @Test
  void aBucketWithCredentialsIsEnough() {
    var servers = read(S3).servers();
    var s3 = Objects.requireNonNull(servers.s3());

    assertThat(s3.bucket()).isEqualTo("traces");
    assertThat(s3.region()).isEqualTo("us-east-1");
    assertThat(s3.prefix()).isEmpty();
    assertThat(s3.rollBytes()).isEqualTo(64 << 20);
    assertThat(s3.flushInterval()).isEqualTo(Duration.ofSeconds(10));
    assertThat(s3.endpoint()).isNull();
    assertThat(s3.toString()).doesNotContain("AKID", "hidden");
    assertThat(servers.natsSubject()).isEqualTo("dynamo.request_trace.v1");
    assertThat(servers.otelEndpoint()).isEqualTo(URI.create("http://127.0.0.1:4318/v1/logs"));
  }

  @Test
  void aSinkThatIsNotNamedAsksForNothing() {
    assertThat(read(Map.of(PREFIX + "enabled", "true")).servers().s3()).isNull();
    assertThat(read(Map.of(PREFIX + "sinks", "s3")).sinks()).isEmpty();
  }

  @Test
  void aMissingBucketAndMissingCredentialsAreNamed() {
    assertThatThrownBy(() -> read(Map.of(PREFIX + "enabled", "true", PREFIX + "sinks", "s3")))
        .hasMessageContaining("s3-bucket")
        .hasMessageContaining("AWS_ACCESS_KEY_ID");
  }

  @ParameterizedTest
  @CsvSource({
    "s3-bucket, Bad_Bucket",
    "s3-bucket, ../x",
    "s3-region, eu west",
    "s3-prefix, a//b",
    "s3-prefix, a?b",
    "s3-endpoint, ftp://x",
    "s3-endpoint, http://me:pass@x",
    "s3-endpoint, https://x/?part=1",
    "s3-endpoint, https://x/#part",
    "tool-events-endpoint, 127.0.0.1:20390",
    "tool-events-endpoint, tcp://tools:20390",
    "tool-events-endpoint, tcp://127.0.0.1",
    "tool-events-endpoint, tcp://127.0.0.1:0",
    "tool-events-endpoint, tcp://:1",
    "nats-subject, a..b",
    "nats-subject, a.*",
    "nats-subject, >",
    "nats-subject, a b",
    "otel-endpoint, nowhere"
  })
  void wrongValuesAreRefusedByName(String name, String value) {
    assertThatThrownBy(() -> read(with(name, value)))
        .hasMessageContaining(PREFIX + name)
        .hasMessageNotContaining("hidden");
  }

  @Test
  void recordsTravelToOtherMachinesByTlsOrWithConsent() {
    var clear = new HashMap<>(S3);
    clear.put("dynamo.nats.servers", "nats://10.0.0.7:4222");
    assertThatThrownBy(() -> read(clear)).hasMessageContaining("dynamo.security.open-planes");

    clear.put(PREFIX + "sinks", "s3");
    assertThat(read(clear).servers().s3()).isNotNull();
  }

  @ParameterizedTest
  @CsvSource({
    "otel, otel-endpoint, http://collector:4318/v1/logs",
    "s3, s3-endpoint, http://10.0.0.7:9000"
  })
  void serversOfOtherMachinesAreReachedByTlsOrWithConsent(String sink, String name, String url) {
    var clear = with(name, url);
    clear.put(PREFIX + "sinks", sink);
    assertThatThrownBy(() -> read(clear))
        .hasMessageContaining(PREFIX + name)
        .hasMessageContaining("https://")
        .hasMessageContaining("dynamo.security.open-planes=true");

    clear.put("dynamo.security.open-planes", "true");
    assertThat(read(clear).sinks()).hasSize(1);

    var other = with(name, url);
    other.put(PREFIX + "sinks", "file");
    assertThat(read(other).sinks()).hasSize(1);
  }

  @ParameterizedTest
  @CsvSource({
    "otel-endpoint, http://127.0.0.1:4318/v1/logs",
    "otel-endpoint, http://[::1]:4318/v1/logs",
    "s3-endpoint, https://10.0.0.7:9000",
    "s3-endpoint, http://localhost:9000/"
  })
  void serversOfThisHostAndThoseByTlsNeedNoConsent(String name, String url) {
    var settings = with(name, url);
    settings.put(PREFIX + "sinks", "otel,s3");

    assertThat(read(settings).sinks()).hasSize(2);
  }

  @Test
  void reportsOfToolsNeedAnAddressAndTheirKindOfRecord() {
    var settings = new HashMap<>(Map.of(PREFIX + "enabled", "true"));
    assertThat(read(settings).tools()).isNull();

    settings.put(PREFIX + "tool-events-endpoint", "tcp://localhost:20390");
    var tools = Objects.requireNonNull(read(settings).tools());
    assertThat(tools.address().getAddress().isLoopbackAddress()).isTrue();
    assertThat(tools.address().getPort()).isEqualTo(20390);
    assertThat(tools.topic()).isEqualTo("agent-tool-events");

    settings.put(PREFIX + "records", "request-end");
    assertThatThrownBy(() -> read(settings)).hasMessageContaining("without tool");

    settings.put(PREFIX + "enabled", "false");
    assertThat(read(settings).tools()).isNull();
  }

  @ParameterizedTest
  @ValueSource(strings = {"tcp://*:20390", "tcp://0.0.0.0:20390", "tcp://10.0.0.7:20390"})
  void reportsOfOtherMachinesNeedConsent(String endpoint) {
    var settings =
        new HashMap<>(
            Map.of(PREFIX + "enabled", "true", PREFIX + "tool-events-endpoint", endpoint));
    assertThatThrownBy(() -> read(settings))
        .hasMessageContaining("dynamo.security.open-planes=true");

    settings.put("dynamo.security.open-planes", "true");
    assertThat(read(settings).tools()).isNotNull();
  }

  @Test
  void credentialsThatNoHeaderCarriesAreNotShown() {
    assertThatThrownBy(() -> read(with("s3-secret-key", "hid\nden")))
        .hasMessageContaining("s3-secret-key")
        .hasMessageNotContaining("den\"");
  }
}
