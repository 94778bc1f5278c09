package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.frontend.kserve.NamedModel;
import org.junit.jupiter.api.Test;

/** The paths below {@code /v2}. */
class KserveRouteTest {
  private static final NamedModel TINY = new NamedModel("tiny", "");

  @Test
  void pathsHaveTheirRoutes() {
    assertThat(KserveRoute.of("")).isEqualTo(new KserveRoute.Server());
    assertThat(KserveRoute.of("/health/live")).isEqualTo(new KserveRoute.Live());
    assertThat(KserveRoute.of("/health/ready")).isEqualTo(new KserveRoute.Ready());
    assertThat(KserveRoute.of("/repository/index")).isEqualTo(new KserveRoute.Index());
    assertThat(KserveRoute.of("/models/tiny")).isEqualTo(new KserveRoute.Model(TINY));
    assertThat(KserveRoute.of("/models/tiny/ready")).isEqualTo(new KserveRoute.ModelReady(TINY));
    assertThat(KserveRoute.of("/models/tiny/config")).isEqualTo(new KserveRoute.Config(TINY));
    assertThat(KserveRoute.of("/models/tiny/infer")).isEqualTo(new KserveRoute.Infer(TINY));
    assertThat(KserveRoute.of("/models/tiny/stats")).isEqualTo(new KserveRoute.Statistics(TINY));
    assertThat(KserveRoute.of("/models/stats"))
        .isEqualTo(new KserveRoute.Statistics(new NamedModel("", "")));
    assertThat(KserveRoute.of("/models/tiny/generate"))
        .isEqualTo(new KserveRoute.Generate(TINY, false));
    assertThat(KserveRoute.of("/models/tiny/generate_stream"))
        .isEqualTo(new KserveRoute.Generate(TINY, true));
  }

  @Test
  void versionsAndSlashesBelongToTheModel() {
    assertThat(KserveRoute.of("/models/org/tiny/versions/1/infer"))
        .isEqualTo(new KserveRoute.Infer(new NamedModel("org/tiny", "1")));
    assertThat(KserveRoute.of("/models/org/tiny/versions/1"))
        .isEqualTo(new KserveRoute.Model(new NamedModel("org/tiny", "1")));
    assertThat(KserveRoute.of("/models/ready"))
        .isEqualTo(new KserveRoute.Model(new NamedModel("ready", "")));
  }

  @Test
  void otherPathsHaveNone() {
    for (var path : new String[] {"/models", "/models/", "/models/tiny/", "/health", "/x"}) {
      assertThat(KserveRoute.of(path)).as(path).isNull();
    }
  }
}
