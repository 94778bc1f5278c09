package io.dynamo.frontend.openai.wire;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Bodies of requests as records show them. */
class RedactedJsonTest {
  private static final String BASE64 = "QUJD".repeat(200);

  private static String written(String body) throws IOException {
    var json = RedactedJson.write(new ObjectMapper().readTree(body), 1 << 20);
    return new String(Objects.requireNonNull(json), UTF_8);
  }

  @Test
  void aBodyIsWrittenAsItWasSent() throws IOException {
    var body =
        "{\"a\":[1,2.5,-3e10,true,null,\"\u00e9\\n\"],\"data\":\"short\",\"url\":\"data:image/png;base64,QUJD\"}";

    assertThat(new ObjectMapper().readTree(written(body)))
        .isEqualTo(new ObjectMapper().readTree(body));
  }

  @Test
  void inlineMediaAreNamedByTypeAndLength() throws IOException {
    assertThat(written("{\"url\":\"DATA:image/png;base64,%s\"}".formatted(BASE64)))
        .isEqualTo("{\"url\":\"DATA:image/png;base64,[800 characters]\"}");
    assertThat(written("[{\"data\":\"%s\",\"format\":\"wav\"}]".formatted(BASE64)))
        .isEqualTo("[{\"data\":\"[800 characters]\",\"format\":\"wav\"}]");
    assertThat(written("{\"content\":\"%s\"}".formatted(BASE64))).contains(BASE64);
  }

  @Test
  void credentialsInUrlsAreMasked() throws IOException {
    var url = "https://me:pw@host/a.png?sig=abc";
    var masked = "https://[masked]@host/a.png?sig=[masked]";

    assertThat(written("{\"image_url\":{\"url\":\"%s\"}}".formatted(url)))
        .isEqualTo("{\"image_url\":{\"url\":\"%s\"}}".formatted(masked));
    assertThat(written("[\"%s %s\"]".formatted("long ".repeat(100), url))).contains(masked);
  }

  @Test
  void contentsThatAreNoJsonAreLeftOut() {
    var body = new ObjectMapper().createObjectNode().putPOJO("raw", new Object());

    assertThat(RedactedJson.write(body, 100)).asString(UTF_8).isEqualTo("{\"raw\":null}");
  }

  @Test
  void aBodyAboveTheBoundIsNotWritten() throws IOException {
    var body = new ObjectMapper().readTree("{\"a\":\"%s\"}".formatted("x".repeat(2000)));

    assertThat(RedactedJson.write(body, 1000)).isNull();
    assertThat(RedactedJson.write(body, 3000)).hasSize(2008);
  }
}
