package io.dynamo.frontend.openai.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.concurrent.Deadline;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.admission.BodyBudget;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class JsonBodyTest {
  @Test
  void aBodyThatDoesNotArriveWithinTheUploadTimeoutIs408() {
    var limit = Duration.ofMillis(1);
    try (var share = new BodyBudget(1 << 30).open()) {
      var deadline = Deadline.after(Duration.ofHours(1));
      assertThatThrownBy(
              () -> JsonBody.read(new Trickle(), -1, Integer.MAX_VALUE - 8, deadline, limit, share))
          .isInstanceOfSatisfying(
              ApiException.class, e -> assertThat(e.error().status()).isEqualTo(408))
          .hasMessageContaining("the 1 ms of dynamo.frontend.upload-timeout");
    }
  }
}
