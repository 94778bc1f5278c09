package io.dynamo.frontend;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PathEscapesTest {
  private static final String MODELS = "/v1/models";

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/v1/models",
        "/v1/models/org%2Fname",
        "/v1/models/org%2fname/ready",
        "/v2/models/org%2Fname/infer",
        "/v1/models/name%201%2E5",
        "/v1/models/..name",
        "/v1/models/a%2Fb..%2Fc",
        "/console/caf%C3%A9"
      })
  void namesMayHaveEscapes(String path) {
    assertThat(PathEscapes.fault(path, MODELS)).isNull();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/v1/models/%2e%2e/%2e%2e/busy_threshold",
        "/v1/models/%2E./busy_threshold",
        "/v1/models/a%2F..%2Fb",
        "/v1/models/a%2F..",
        "/v1/models/a%2f%2e;x=1/b",
        "/v1/models/%2e%2e%3bx/b",
        "/%2e/v1/models",
        "/v1/models/..%5c..%5cbusy_threshold",
        "/v1/models/a\\b",
        "/v1/models/a%23b",
        "/v1/models/a%00b",
        "/v1/models/%ff",
        "/v1/models/%c0%ae",
        "/v1/models/a%2",
        "/v1/models/%zz",
        "/v1%2fmodels",
        "/v1/responses/a%2Fb",
        "/v1/modelsX/a%2Fb",
        "/docs/x%2Fy"
      })
  void noEscapeLeadsElsewhere(String path) {
    assertThat(PathEscapes.fault(path, MODELS))
        .satisfies(it -> assertThat(it.status()).isEqualTo(400));
  }
}
