package io.dynamo.worker.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dynamo.config.worker.EngineKind;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.OutputOptions;
import io.dynamo.inference.RoutingHints;
import io.dynamo.inference.SamplingOptions;
import io.dynamo.inference.StopConditions;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class UnreadMediaTest {
  private static final GenerateRequest TEXT =
      new GenerateRequest(
          "m",
          new int[] {1},
          new StopConditions(1, List.of(), List.of(), null, false),
          SamplingOptions.DEFAULTS,
          OutputOptions.DEFAULTS,
          new int[0],
          null,
          List.of(),
          RoutingHints.NONE,
          Map.of());
  private static final GenerateRequest PICTURE =
      TEXT.passing("multi_modal_data", Map.of("image_url", List.of(Map.of("Url", "data:,x"))));

  @ParameterizedTest
  @EnumSource
  void enginesThatGetTokensAloneRefuseMedia(EngineKind engine) {
    var entry = UnreadMedia.refusedBy(engine, request -> request);

    assertThat(entry.apply(TEXT)).isSameAs(TEXT);
    if (Set.of(EngineKind.MOCK, EngineKind.ECHO).contains(engine)) {
      assertThat(entry.apply(PICTURE)).isSameAs(PICTURE);
    } else {
      assertThatExceptionOfType(InvalidRequestException.class)
          .isThrownBy(() -> entry.apply(PICTURE))
          .withMessageContaining("reads no images");
    }
  }
}
