package io.dynamo.error;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

class FailureShapeTest {
  private static String printed(Throwable failure) {
    var text = new StringWriter();
    failure.printStackTrace(new PrintWriter(text));
    return text.toString();
  }

  @Test
  void kindsCodesAndFramesStayAndTextsGo() {
    var failure =
        new EngineFailedException(
            ErrorCode.BACKEND_UNKNOWN, "cannot say 'secret'", new IOException("secret, too"));

    assertThat(printed(failure)).contains("secret");
    assertThat(printed(FailureShape.of(failure)))
        .doesNotContain("secret")
        .contains("EngineFailedException (BACKEND_UNKNOWN)", "java.io.IOException")
        .contains("kindsCodesAndFramesStayAndTextsGo");
  }

  @Test
  void causesWithoutEndAreCutOff() {
    var first = new IllegalStateException("a");
    first.initCause(new IllegalArgumentException("b", first));

    assertThat(printed(FailureShape.of(first)).lines().filter(line -> line.startsWith("Caused by")))
        .hasSize(8);
  }
}
