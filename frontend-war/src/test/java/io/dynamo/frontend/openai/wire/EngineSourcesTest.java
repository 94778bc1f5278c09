package io.dynamo.frontend.openai.wire;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.dynamo.frontend.ApiException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Engines' own routes name no files of workers. */
class EngineSourcesTest {
  private static void read(Map<String, Object> more) {
    var body = new ObjectMapper().createObjectNode();
    body.put("model", "m");
    body.putArray("input_ids").add(1);
    body.putObject("sampling_params");
    more.forEach((name, value) -> body.set(name, new ObjectMapper().valueToTree(value)));
    SglangGenerateReader.read(body);
    body.set("token_ids", body.remove("input_ids"));
    VllmGenerateReader.read(body);
  }

  @ParameterizedTest
  @CsvSource({
    "image_data, file:///etc/passwd",
    "image_data, /etc/passwd",
    "video_data, etc/passwd",
    "audio_data, FILE:/x",
    "lora_path, /srv/adapter"
  })
  void filesAreRefused(String field, String value) {
    assertThatThrownBy(() -> read(Map.of(field, value)))
        .isInstanceOf(ApiException.class)
        .hasMessageContaining(field);
    assertThatThrownBy(() -> read(Map.of(field, List.of(List.of(value)))))
        .isInstanceOf(ApiException.class)
        .hasMessageContaining(field);
  }

  @ParameterizedTest
  @CsvSource({"image_data, https://example.org/a.png", "audio_data, 'data:audio/wav;base64,AAAA'"})
  void webUrlsArePassedOn(String field, String value) {
    assertThatCode(() -> read(Map.of(field, value))).doesNotThrowAnyException();
  }
}
