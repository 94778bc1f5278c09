package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.inference.Annotation;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.Logprobs;
import io.dynamo.inference.PassedOn;
import io.dynamo.inference.Usage;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class JoinedItemsTest {
  private static EngineOutput likely(double[] values, int... ids) {
    var top = List.of(List.of(new Logprobs.Top(1, ids[0], null, -0.5, null)));
    return new EngineOutput(
        ids, null, null, null, 0, null, new Logprobs(-1.0, values, top), null, PassedOn.NONE);
  }

  /** A token without its alternatives. */
  private static EngineOutput untold(int id) {
    return new EngineOutput(
        new int[] {id},
        null,
        null,
        null,
        0,
        null,
        new Logprobs(null, new double[] {-0.5}, List.of()),
        null,
        PassedOn.NONE);
  }

  @Test
  void tokensAndTheEndBecomeOneItem() {
    var first = EngineOutput.ofTokens(1);
    var usage = new Usage(5, 3, null);
    var last = EngineOutput.finish(FinishReason.STOP, usage, 3);

    assertThat(JoinedItems.isOpen(first)).isTrue();
    assertThat(JoinedItems.continues(first, last)).isTrue();
    assertThat(JoinedItems.isOpen(last)).isFalse();
    var joined = JoinedItems.of(List.of(first, EngineOutput.ofTokens(2), last));

    assertThat(joined.tokenIds()).containsExactly(1, 2, 3);
    assertThat(joined.finishReason()).isEqualTo(FinishReason.STOP);
    assertThat(joined.usage()).isEqualTo(usage);
  }

  @Test
  void countsOfAnEarlierItemStay() {
    var usage = new Usage(5, 1, 4);
    var joined =
        JoinedItems.of(
            List.of(EngineOutput.ofTokens(1).withUsage(usage), EngineOutput.ofTokens(2)));

    assertThat(joined.usage()).isEqualTo(usage);
  }

  @Test
  void logProbabilitiesStayWithTheirTokens() {
    var joined =
        JoinedItems.of(List.of(likely(new double[] {-0.1}, 7), likely(new double[] {-0.2}, 8)));

    assertThat(joined.tokenIds()).containsExactly(7, 8);
    var logprobs = joined.logprobs();
    assertThat(logprobs == null ? null : logprobs.tokens()).containsExactly(-0.1, -0.2);
    assertThat(logprobs == null ? List.<List<Logprobs.Top>>of() : logprobs.top())
        .extracting(top -> top.getFirst().tokenId())
        .containsExactly(7, 8);
  }

  @Test
  void differentItemsAreNotJoined() {
    var plain = EngineOutput.ofTokens(1);
    var valued = likely(new double[] {-0.1}, 7);

    assertThat(JoinedItems.continues(plain, valued)).isFalse();
    assertThat(JoinedItems.continues(valued, untold(8))).isFalse();
    assertThat(JoinedItems.continues(valued, EngineOutput.finish(FinishReason.STOP, null)))
        .as("no token, nothing to say of it")
        .isTrue();
    assertThat(JoinedItems.continues(plain, EngineOutput.finish(FinishReason.ERROR, null)))
        .isFalse();
    assertThat(
            JoinedItems.continues(
                plain, EngineOutput.annotated(new Annotation("event", List.of("{}")))))
        .isFalse();
    assertThat(
            JoinedItems.continues(plain, plain.withPassedOn(PassedOn.of(Map.of("engine_data", 1)))))
        .isFalse();
    assertThat(
            JoinedItems.continues(
                plain, new EngineOutput(new int[] {2}, "text", null, null, 0, null)))
        .isFalse();
    assertThat(
            JoinedItems.continues(
                plain, new EngineOutput(new int[] {2}, null, null, null, 1, null)))
        .isFalse();
  }
}
