package io.dynamo.frontend.admission;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.concurrent.Deadline;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.openai.wire.Trickle;
import java.io.ByteArrayInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RequestBodyTest {
  private static final int LIMIT = 5_000_000;
  private static final Duration LONG = Duration.ofHours(1);

  private final BodyBudget budget =
      new BodyBudget(new BodyBudget.Limits(2L * LIMIT, LIMIT, 16 * 1024));

  private static RequestBody read(
      InputStream in, int limit, Duration time, BodyBudget.Share share) {
    var bounds = new RequestBody.Bounds(limit, "dynamo.frontend.body-limit", time);
    return RequestBody.read(in, -1, bounds, Deadline.after(LONG), share);
  }

  private static void refused(int status, Runnable reading) {
    assertThatThrownBy(reading::run)
        .isInstanceOfSatisfying(
            ApiException.class, e -> assertThat(e.error().status()).isEqualTo(status));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 8191, 8192, 8193, 16_384, 100_000, 3_000_000, LIMIT})
  void bodiesOfAnyLengthAreReadWhole(int length) {
    var bytes = new byte[length];
    new Random(length).nextBytes(bytes);
    try (var share = budget.open()) {
      var body = read(new ByteArrayInputStream(bytes), LIMIT, LONG, share);
      assertThat(body.length()).isEqualTo(length);
      assertThat(budget.heldBytes()).isBetween(Math.max(0, length - 16_384L), 2L * length);
      assertThat(body.drain()).isEqualTo(bytes);
    }
    assertThat(budget.heldBytes()).isZero();
  }

  @ParameterizedTest
  @ValueSource(ints = {100, 8192, 20_000})
  void oneByteMoreThanTheLimitIs413(int limit) {
    try (var share = budget.open()) {
      var longer = new ByteArrayInputStream(new byte[limit + 1]);
      refused(413, () -> read(longer, limit, LONG, share));
    }
  }

  @Test
  void aBodyThatDoesNotArriveWithinTheUploadTimeoutIs408() {
    try (var share = budget.open()) {
      assertThatThrownBy(() -> read(new Trickle(), LIMIT, Duration.ofMillis(1), share))
          .isInstanceOfSatisfying(
              ApiException.class, e -> assertThat(e.error().status()).isEqualTo(408))
          .hasMessageContaining("the 1 ms of dynamo.frontend.upload-timeout");
    }
  }

  @Test
  void aStalledUploadYieldsToANewOneAndIsRefusedWhenItContinues() {
    try (var slow = budget.open();
        var quick = budget.open()) {
      var stalls =
          new FilterInputStream(new ByteArrayInputStream(new byte[LIMIT])) {
            private int left = LIMIT - 1000;

            @Override
            public int read(byte[] into, int from, int length) throws IOException {
              if (left <= 0) { // by now all but the last bytes are there
                assertThat(budget.heldBytes()).isGreaterThan(LIMIT / 2);
                quick.chargeComplete(2L * LIMIT);
                assertThat(budget.heldBytes()).isEqualTo(2L * LIMIT - 16 * 1024);
              }
              int count = super.read(into, from, Math.min(length, Math.max(1, left)));
              left -= count;
              return count;
            }
          };
      refused(503, () -> read(stalls, LIMIT, LONG, slow));
    }
    assertThat(budget.heldBytes()).isZero();
  }
}
