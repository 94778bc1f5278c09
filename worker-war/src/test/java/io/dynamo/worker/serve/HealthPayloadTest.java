package io.dynamo.worker.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.wire.generate.GenerateCodec;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HealthPayloadTest {
  private static final String TWO =
      "{\"token_ids\":[7,8],\"stop_conditions\":{\"max_tokens\":2},\"_HEALTH_CHECK\":true}";

  @TempDir Path folder;

  @Test
  void theStandardAsksForOneTokenOfTheRankInDoubt() {
    var request = HealthPayload.standard().ask("m", 3);
    assertThat(request.model()).isEqualTo("m");
    assertThat(request.tokenIds()).containsExactly(1);
    assertThat(request.stop().maxTokens()).isEqualTo(1);
    assertThat(request.routing().rank()).isEqualTo(3);
    assertThat(HealthPayload.standard().ask("m", null).routing().rank()).isNull();
  }

  @Test
  void anOperatorsRequestIsTakenAsItStandsFromTextOrFile() throws Exception {
    var file = Files.writeString(folder.resolve("payload.json"), TWO);
    for (var text : new String[] {TWO, "@" + file}) {
      var request = HealthPayload.of(text, new GenerateCodec()).ask("m", null);
      assertThat(request.model()).as("the one it does not name").isEqualTo("m");
      assertThat(request.tokenIds()).containsExactly(7, 8);
      assertThat(request.stop().maxTokens()).isEqualTo(2);
    }
    var named = "{\"model\":\"other\",\"token_ids\":[7]}";
    assertThat(HealthPayload.of(named, new GenerateCodec()).ask("m", 1).model()).isEqualTo("other");
  }

  @Test
  void invalidPayloadsAreRefused() {
    assertThatThrownBy(() -> HealthPayload.of("{}", new GenerateCodec()))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("token_ids");
    assertThatThrownBy(() -> HealthPayload.of("@" + folder.resolve("none"), new GenerateCodec()))
        .isInstanceOf(UncheckedIOException.class)
        .hasMessageContaining("none");
  }
}
