package io.dynamo.frontend;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BodyCodingTest {
  @ParameterizedTest
  @ValueSource(strings = {"", " ", "identity", "Identity", "identity, identity"})
  void aBodyAsItIsPasses(String header) {
    assertThat(BodyCoding.of(List.of(header))).isNull();
  }

  @ParameterizedTest
  @ValueSource(strings = {"gzip", "GZIP", "x-gzip", "deflate", "br", "identity, gzip", "nonsense"})
  void everyEncodingIsFound(String header) {
    assertThat(BodyCoding.of(List.of("identity", header))).isNotNull();
  }

  @Test
  void theRefusalNamesTheEncoding() {
    var refusal = BodyCoding.refusal("gzip");
    assertThat(refusal.status()).isEqualTo(415);
    assertThat(new String(refusal.body(), StandardCharsets.UTF_8)).contains("`gzip`");
  }
}
