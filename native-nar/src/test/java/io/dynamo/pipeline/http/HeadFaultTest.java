package io.dynamo.pipeline.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HeadFaultTest {
  /** Returns a head from text in the form of one or more {@code name: value}, separated by bars. */
  private static RequestHead head(String version, String fields) {
    var collected = new RequestHead.Fields();
    for (var field : fields.split(" \\| ", -1)) {
      var parts = field.split(": ?", 2);
      collected.add(parts[0], parts.length > 1 ? parts[1] : "");
    }
    return collected.head("POST", version);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Host: localhost",
        "Host: 127.0.0.1:8000 | Content-Length: 12",
        "Host: [::1]:8000 | Transfer-Encoding: Chunked",
        "Host: model_server.example. | X-Note: tab\tand \u00e9",
        "Host: h | Accept: a | Accept: b",
      })
  void ordinaryHeadsAreTaken(String fields) {
    assertThat(HeadFault.in(head("HTTP/1.1", fields))).isNull();
  }

  @ParameterizedTest
  @CsvSource({
    "Accept: x, 400, No Host",
    "Host: a | Host: a, 400, 2 Host headers",
    "Host: a@b/c, 400, Host header is no name",
    "Host: , 400, Host header is no name",
    "Host: h | Content-Length: 5 | Content-Length: 5, 400, 2 Content-Length",
    "Host: h | Content-Length: 0x10, 400, no number",
    "Host: h | Content-Length: -1, 400, no number",
    "Host: h | Content-Length: 9999999999999999999, 400, 18 digits",
    "Host: h | Content-Length: 5 | Transfer-Encoding: chunked, 400, beside",
    "Host: h | Content-Length: 5 | Transfer-Encoding: xchunked, 400, beside",
    "Host: h | Transfer-Encoding: xchunked, 400, does not end in chunked",
    "Host: h | Transfer-Encoding: chunked | Transfer-Encoding: identity, 400, does not end",
    "Host: h | Transfer-Encoding: gzip | Transfer-Encoding: chunked, 501, only",
    "Host: h | Transfer-Encoding: chunked | Transfer-Encoding: chunked, 501, only",
  })
  void ambiguousHeadsAreRefused(String fields, int status, String why) {
    var fault = Objects.requireNonNull(HeadFault.in(head("HTTP/1.1", fields)));
    assertThat(fault.status()).isEqualTo(status);
    assertThat(fault.message()).contains(why);
  }

  @ParameterizedTest
  @ValueSource(strings = {"a\rb", "a\nb", "a\u0000b", "a\u001b[31m", "a\u007f"})
  void controlCharactersAreRefused(String value) {
    var fault = HeadFault.in(head("HTTP/1.1", "Host: h | x-request-id: " + value));
    assertThat(Objects.requireNonNull(fault).message()).contains("x-request-id has a control");
  }

  @Test
  void theOlderVersionHasNoChunksAndNeedNotNameItsHost() {
    assertThat(HeadFault.in(head("HTTP/1.0", "Accept: x"))).isNull();
    assertThat(HeadFault.in(head("HTTP/1.0", "Host: h | Transfer-Encoding: chunked"))).isNotNull();
  }

  @ParameterizedTest
  @ValueSource(strings = {"HTTP/1.2", "HTTP/2.0", "HTTP/0.9", "http/1.1"})
  void otherVersionsAreRefused(String version) {
    assertThat(Objects.requireNonNull(HeadFault.in(head(version, "Host: h"))).status())
        .isEqualTo(505);
  }

  @Test
  void onlyPrintableRequestIdsAreRepeated() {
    assertThat(head("HTTP/1.1", "X-Request-Id: a b-1 | X-Request-Id: c").requestId())
        .isEqualTo("a b-1");
    for (var unclean : new String[] {"", "a\u009bb", "a\u00e9", "a\tb", "x".repeat(1025)}) {
      assertThat(head("HTTP/1.1", "X-Request-Id: " + unclean).requestId()).isNull();
    }
    assertThat(head("HTTP/1.1", "Accept: x").requestId()).isNull();
  }
}
