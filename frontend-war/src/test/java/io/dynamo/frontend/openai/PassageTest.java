package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.frontend.FrontendMetrics;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.PrometheusText;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class PassageTest {
  private static final String BODY =
      "{\"model\":\"script\",\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}";

  private final FrontendFixture real = new FrontendFixture();
  private final FrontendFixture other = new FrontendFixture();

  @BeforeEach
  void pass() {
    real.items = List.of(EngineOutput.finish(FinishReason.STOP, null, 'r'));
    other.items = List.of(EngineOutput.finish(FinishReason.STOP, null, 'o'));
    real.completions.passOn(new TextService.Passage("x-pass", "secret", other.completions));
  }

  @AfterEach
  void close() {
    real.closeIdle();
    other.closeIdle();
  }

  private FrontendFixture.Recorded post(Map<String, String> headers) {
    return real.post(BODY.getBytes(StandardCharsets.UTF_8), headers);
  }

  @Test
  void leadsRequestsWithTheSecretToTheOtherServiceWithoutATrace() {
    assertThat(post(Map.of("x-pass", "secret")).status).isEqualTo(200);

    assertThat(other.asked).isNotNull();
    assertThat(real.asked).isNull();
    assertThat(real.metrics.level(FrontendMetrics.INFLIGHT, new Label("model", "script")).value())
        .isZero();
  }

  @Test
  void isClosedToRequestsWithoutTheSecret() {
    assertThat(post(Map.of("x-pass", "secrets")).status).isEqualTo(200);
    assertThat(post(Map.of()).status).isEqualTo(200);

    assertThat(other.asked).isNull();
    assertThat(real.allAsked).hasSize(2);
  }

  @Test
  void requestsThatComeAfterItsServiceAreRefusedWithoutATrace() {
    real.completions.passOn(new TextService.Passage("x-pass", "secret", null));

    assertThat(post(Map.of("x-pass", "secret")).status).isEqualTo(503);

    assertThat(real.asked).isNull();
    var text = new PrometheusText();
    real.metrics.attach(text);
    assertThat(text.write()).doesNotContain("status=\"error\"");
    assertThat(post(Map.of()).status).isEqualTo(200);
  }
}
