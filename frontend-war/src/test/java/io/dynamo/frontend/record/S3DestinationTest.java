package io.dynamo.frontend.record;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.config.watch.RecordSinkSettings.S3Settings;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class S3DestinationTest {
  private static final Clock CLOCK =
      Clock.fixed(Instant.parse("2026-01-02T03:04:05Z"), ZoneOffset.UTC);

  private final HttpSink bucket;
  private final S3Destination destination;

  S3DestinationTest() throws IOException {
    bucket = new HttpSink();
    destination =
        new S3Destination(
            new S3Settings(
                "traces",
                "eu-west-1",
                "team/a",
                1 << 20,
                Duration.ofSeconds(1),
                bucket.url("/"),
                "AKID",
                "SECRET",
                "TOKEN"),
            "host:1/../x",
            CLOCK);
  }

  @AfterEach
  void close() {
    destination.close();
    bucket.close();
  }

  private HttpSink.Arrived put() throws InterruptedException {
    return Objects.requireNonNull(bucket.arrived.poll(30, TimeUnit.SECONDS));
  }

  @Test
  void aBatchBecomesAnObjectOfLines() throws Exception {
    int gone = destination.send(List.of("{\"a\":1}".getBytes(UTF_8), "{\"b\":2}".getBytes(UTF_8)));

    var put = put();
    assertThat(gone).isZero();
    assertThat(put.method()).isEqualTo("PUT");
    assertThat(put.path())
        .matches(
            "/traces/team/a/2026/01/02/host-1-\\.\\.-x-030405-[0-9a-f]{32}-000000\\.jsonl\\.gz");
    try (var lines = new GZIPInputStream(new ByteArrayInputStream(put.body()))) {
      assertThat(new String(lines.readAllBytes(), UTF_8)).isEqualTo("{\"a\":1}\n{\"b\":2}\n");
    }
    var signed = new S3Signature("AKID", "SECRET", "eu-west-1");
    var headers = put.headers();
    assertThat(headers.get("authorization"))
        .isEqualTo(
            signed
                .sign(
                    new S3Signature.Request(
                        "PUT",
                        put.path(),
                        Map.of(
                            "host", Objects.requireNonNull(headers.get("host")),
                            "content-type", "application/gzip",
                            "x-amz-security-token", "TOKEN"),
                        put.body()),
                    CLOCK.instant())
                .get("authorization"));
  }

  @ParameterizedTest
  @CsvSource({
    "http://minio:80/b/k, minio",
    "https://s3.example:443/b/k, s3.example",
    "http://minio:9000/b/k, minio:9000",
    "https://b.s3.eu-west-1.amazonaws.com/k, b.s3.eu-west-1.amazonaws.com"
  })
  void theSignedHostIsTheOneThatTheClientSends(URI object, String host) {
    assertThat(S3Destination.host(object)).isEqualTo(host);
  }

  @Test
  void anObjectThatIsSentAgainKeepsItsName() throws Exception {
    var batch = List.of(new byte[] {'{', '}'});
    bucket.status = 503;
    assertThatThrownBy(() -> destination.send(batch))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("traces")
        .hasMessageContaining("503")
        .hasMessageNotContainingAny("SECRET", "TOKEN");
    bucket.status = 200;
    var _ = destination.send(batch);
    var _ = destination.send(List.of(new byte[] {'{', '}'}));

    var name = put().path();
    assertThat(put().path()).isEqualTo(name);
    assertThat(put().path()).endsWith("-000001.jsonl.gz");
  }
}
