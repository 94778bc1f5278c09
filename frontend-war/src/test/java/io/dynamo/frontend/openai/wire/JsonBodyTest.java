package io.dynamo.frontend.openai.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class JsonBodyTest {
  private static final int KEYS = 1000;

  @Test
  void keysThatCollideDoNoHarmToOtherBodies() {
    var body = new StringBuilder("{");
    for (int i = 0; i < KEYS; i++) {
      body.append(i == 0 ? "\"" : ",\"");
      for (int bit = 0; bit < Integer.SIZE; bit++) {
        body.append((i >> bit & 1) == 0 ? "Aa" : "B@"); // one hash, whatever the table's seed
      }
      body.append("\":1");
    }
    assertThat(JsonBody.parse(utf8(body + "}")).size()).isEqualTo(KEYS);
    assertThat(JsonBody.parse(utf8("{\"another\":1}")).size()).isEqualTo(1);
  }

  @Test
  void failureOfTheParserIsA400OfItsOwnClass() {
    var failing =
        new JsonMapper(
            new JsonFactory() {
              @Override
              public JsonParser createParser(String content) {
                throw new IllegalStateException("damaged");
              }
            });
    assertThatThrownBy(() -> JsonBody.parse(failing, utf8("{}")))
        .isInstanceOfSatisfying(
            ApiException.class,
            e -> {
              assertThat(e.error().status()).isEqualTo(400);
              assertThat(e.error().code()).isEqualTo(ApiError.UNREADABLE);
              assertThat(e.getStackTrace()).isEmpty();
            });
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
