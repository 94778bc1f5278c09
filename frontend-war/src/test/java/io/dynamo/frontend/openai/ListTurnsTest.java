package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.admission.BodyBudget;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** How many lists are made at once, and what they are charged. */
class ListTurnsTest {
  private static final int ALL = 100_000;
  private static final int FREE = 10;

  private final BodyBudget bodies = new BodyBudget(new BodyBudget.Limits(ALL, ALL, FREE));
  private final ListTurns turns = new ListTurns(1, Duration.ZERO);

  @Test
  void listIsChargedBeforeItIsReadAndItsBodyUntilItIsWritten() throws Exception {
    try (var share = bodies.open()) {
      var body =
          turns.make(
              share,
              50_000,
              () -> {
                assertThat(bodies.heldBytes()).isEqualTo(50_000 - FREE);
                return new byte[1000];
              });
      assertThat(body).hasSize(1000);
      assertThat(bodies.heldBytes()).isEqualTo(1000 - FREE);
      assertThatThrownBy(() -> turns.make(share, ALL + FREE + 1, () -> new byte[0]))
          .isInstanceOf(ApiException.class);
      assertThat(turns.make(share, 1, () -> new byte[0])).as("its turn was given back").isEmpty();
    }
  }

  @Test
  void listBeyondTheBoundIsRefused() throws Exception {
    try (var share = bodies.open();
        var other = bodies.open()) {
      turns.make(
          share,
          1,
          () -> {
            assertThatThrownBy(() -> turns.make(other, 1, () -> new byte[0]))
                .isInstanceOfSatisfying(
                    ApiException.class,
                    e -> {
                      assertThat(e.error().status()).isEqualTo(503);
                      assertThat(e.error().isOverload()).isTrue();
                    });
            return new byte[0];
          });
    }
  }
}
