package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Sounds that a part of a message holds itself, as OpenAI's clients send them. */
class InputAudioTest {
  private final FrontendFixture frontend = new FrontendFixture();

  @AfterEach
  void close() {
    frontend.close();
  }

  private FrontendFixture.Recorded answer(String sound) {
    return frontend.post(
        """
        {"model":"script","messages":[{"role":"user","content":[
          {"type":"text","text":"hear"},{"type":"input_audio","input_audio":%s}]}]}\
        """
            .formatted(sound));
  }

  @ParameterizedTest
  @CsvSource({"wav, audio/wav", "mp3, audio/mpeg", "FLAC, audio/flac"})
  void theWorkerGetsTheSoundAsAnUrlOfItsBytes(String format, String type) {
    assertThat(answer("{\"data\":\"AAAA\",\"format\":\"%s\"}".formatted(format)).status)
        .isEqualTo(200);

    var asked = Objects.requireNonNull(frontend.asked);
    assertThat(asked.passedOn().get("multi_modal_data"))
        .isEqualTo(
            Map.of("audio_url", List.of(Map.of("Url", "data:%s;base64,AAAA".formatted(type)))));
    assertThat(String.valueOf(asked.extraArgs().get("messages")))
        .as("the bytes are sent once")
        .contains("input_audio")
        .doesNotContain("AAAA");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"data\":\"AAAA\"} | format",
        "{\"format\":\"wav\"} | data",
        "{\"data\":\"AAAA\",\"format\":\"wav;base64,x\"} | input_audio.format",
        "{\"data\":\"AAAA\",\"format\":\"\"} | input_audio.format",
        "{\"data\":5,\"format\":\"wav\"} | input_audio.data",
        "{\"data\":\"\",\"format\":\"wav\"} | input_audio.data",
        "{\"data\":\"data:audio/wav;base64,AAAA\",\"format\":\"wav\"} | input_audio.data",
        "7 | input_audio"
      })
  void aPartWithoutASoundIsRefused(String sound, String named) {
    var answer = answer(sound);
    assertThat(answer.status).isEqualTo(400);
    assertThat(answer.text()).contains(named);
  }

  @Test
  void thePromptHasAPlaceholder() {
    answer("{\"data\":\"AAAA\",\"format\":\"wav\"}");
    assertThat(Objects.requireNonNull(frontend.prompt).messages().toString())
        .contains("audio")
        .doesNotContain("AAAA");
  }
}
