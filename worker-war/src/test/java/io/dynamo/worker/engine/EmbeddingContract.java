package io.dynamo.worker.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.dynamo.error.CancelledException;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.Migratable;
import io.dynamo.error.WorkerBusyException;
import io.dynamo.inference.EmbeddingRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The rules that every engine keeps that embeds. */
public abstract class EmbeddingContract {
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final int[] ONE = {333, 198, 529, 220, 275};
  private static final int[] OTHER = {1475, 220, 299};

  private EmbeddingEngine engine;

  /**
   * Returns an engine that was not started, whose vectors have length 1 and whose room is bounded
   * to fewer than 64 requests.
   */
  protected abstract EmbeddingEngine newEngine() throws Exception;

  /** How far two vectors of one prompt may differ in a number. */
  protected abstract float tolerance();

  @BeforeEach
  void fresh() throws Exception {
    engine = newEngine();
  }

  @AfterEach
  void close() {
    engine.close();
  }

  @Test
  void startTellsTheLimits() {
    var description = engine.start();
    assertThat(description.contextLength()).isGreaterThan(64);
    assertThat(description.vocabulary()).isGreaterThan(1475);
    assertThat(description.width()).isPositive();
  }

  @Test
  void vectorHasTheWidthAndLengthOne() throws Exception {
    var description = engine.start();
    var answer = Embedded.of(engine, Embedded.request(ONE)).ended();
    assertThat(answer.output().promptTokens()).isEqualTo(ONE.length);
    assertThat(answer.vectors()).hasSize(1);
    assertThat(answer.vectors().getFirst()).hasSize(description.width());
    assertThat(length(answer.vectors().getFirst())).isCloseTo(1, within(1e-5));
  }

  @Test
  void samePromptGivesTheSameVectorAloneAndInABatch() throws Exception {
    engine.start();
    var alone = Embedded.of(engine, Embedded.request(ONE)).ended().vectors().getFirst();
    var batch = Embedded.of(engine, Embedded.request(OTHER, ONE, OTHER)).ended();
    assertThat(batch.output().promptTokens()).isEqualTo(ONE.length + 2 * OTHER.length);
    assertThat(batch.vectors()).hasSize(3);
    assertThat(batch.vectors().get(1)).containsExactly(alone, within(tolerance()));
    assertThat(batch.vectors().get(2)).containsExactly(batch.vectors().get(0), within(tolerance()));
    assertThat(difference(batch.vectors().get(0), alone)).isGreaterThan(0.01);
  }

  @Test
  void batchLargerThanAPassKeepsItsOrder() throws Exception {
    engine.start();
    var prompts =
        IntStream.range(0, 40).mapToObj(i -> Requests.prompt(100 + i, 3 + i)).toArray(int[][]::new);
    var batch = Embedded.of(engine, Embedded.request(prompts)).ended().vectors();
    assertThat(batch).hasSize(40);
    for (int i : new int[] {0, 7, 39}) {
      var alone = Embedded.of(engine, Embedded.request(prompts[i])).ended().vectors().getFirst();
      assertThat(batch.get(i)).as("prompt %d", i).containsExactly(alone, within(tolerance()));
    }
  }

  @Test
  void dimensionsCutTheVectorAndKeepItsLength() throws Exception {
    var description = engine.start();
    var whole = Embedded.of(engine, Embedded.request(ONE)).ended().vectors().getFirst();
    var cut = Embedded.of(engine, Embedded.request(8, null, ONE)).ended().vectors().getFirst();
    assertThat(cut).hasSize(8);
    assertThat(length(cut)).isCloseTo(1, within(1e-5));
    float scale = cut[0] / whole[0];
    for (int i = 0; i < 8; i++) {
      assertThat(cut[i])
          .isCloseTo(whole[i] * scale, within(Math.max(1e-6f, tolerance() * Math.abs(scale))));
    }
    assertRefused(Embedded.request(description.width() + 1, null, ONE), "dimensions");
    assertRefused(Embedded.request(0, null, ONE), "dimensions");
  }

  @Test
  void promptsWithoutTokensAndTooLongOnesAreTheRequestersFault() {
    var description = engine.start();
    assertRefused(Embedded.request(), "no prompts");
    assertRefused(Embedded.request(ONE, new int[0]), "no tokens");
    assertRefused(Embedded.request(ONE, new int[description.contextLength() + 1]), "shorten it");
    assertRefused(Embedded.request(new int[] {description.vocabulary()}), "vocabulary");
    assertRefused(Embedded.request(new int[] {-1}), "vocabulary");
    assertThat(engine.running()).isZero();
  }

  private void assertRefused(EmbeddingRequest request, String why) {
    assertThatThrownBy(() -> engine.embed(request, Requests.context()))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining(why);
  }

  @Test
  void promptsAreCutWhereTheRequestAllowsIt() throws Exception {
    var description = engine.start();
    var cut = Embedded.of(engine, Embedded.request(null, 3, ONE)).ended();
    var short3 = Embedded.of(engine, Embedded.request(new int[] {333, 198, 529})).ended();
    assertThat(cut.output().promptTokens()).isEqualTo(3);
    assertThat(cut.vectors().getFirst())
        .containsExactly(short3.vectors().getFirst(), within(tolerance()));
    var most = new int[description.contextLength() + 5];
    Arrays.fill(most, 220);
    var whole = Embedded.of(engine, Embedded.request(null, -1, most)).ended();
    assertThat(whole.output().promptTokens()).isEqualTo(description.contextLength());
  }

  @Test
  void cancelEndsARequestInTheMiddle() throws Exception {
    var limits = engine.start();
    var context = Requests.context();
    var answer = Embedded.of(engine, large(limits), context);
    context.cancellation().stop();
    assertThat(answer.ended().failure()).isInstanceOf(CancelledException.class);
    awaitIdle();
    Embedded.of(engine, Embedded.request(ONE)).ended().output();
  }

  @Test
  void abandonedRequestFreesItsPlace() throws Exception {
    var limits = engine.start();
    Embedded.of(engine, large(limits)).cancel();
    Embedded.of(engine, Embedded.request(ONE)).ended().output();
    awaitIdle();
  }

  @Test
  void deadlineEndsARequest() throws Exception {
    var limits = engine.start();
    var answer = Embedded.of(engine, large(limits), Requests.context(Duration.ofMillis(1)));
    assertThat(answer.ended().failure()).isInstanceOf(DeadlineExceededException.class);
    awaitIdle();
  }

  @Test
  void moreThanThereIsRoomForAreRefusedAndTheOthersAnswered() throws Exception {
    engine.start();
    var taken = new ArrayList<Embedded>();
    int refused = 0;
    for (int i = 0; i < 64 || (refused == 0 && i < 10_000); i++) {
      try {
        taken.add(Embedded.of(engine, Embedded.request(Requests.prompt(1, 40))));
      } catch (WorkerBusyException full) {
        refused++;
      }
    }
    assertThat(refused).isPositive();
    assertThat(taken).isNotEmpty();
    for (var answer : taken) {
      answer.ended().output();
    }
    awaitIdle();
  }

  @Test
  void closeEndsWhatRunsSoThatItCanMigrate() throws Exception {
    var limits = engine.start();
    var answer = Embedded.of(engine, large(limits));
    engine.close();
    assertThat(answer.ended().failure()).isInstanceOf(Migratable.class);
    engine.close();
    assertThatThrownBy(() -> engine.embed(Embedded.request(ONE), Requests.context()))
        .isInstanceOf(Migratable.class);
  }

  /** Returns a request that does not end before a test can end it. */
  private static EmbeddingRequest large(EmbeddingDescription limits) {
    var prompts = new int[100][];
    int length = Math.min(500, limits.contextLength());
    Arrays.setAll(prompts, i -> Requests.prompt(1 + i, length));
    return Embedded.request(prompts);
  }

  private void awaitIdle() {
    long begun = System.nanoTime();
    while (engine.running() > 0) {
      assertThat(System.nanoTime() - begun).as("running").isLessThan(PATIENCE.toNanos());
      Thread.onSpinWait();
    }
  }

  private static double length(float[] vector) {
    double squares = 0;
    for (float number : vector) {
      squares += (double) number * number;
    }
    return Math.sqrt(squares);
  }

  private static double difference(float[] one, float[] other) {
    double most = 0;
    for (int i = 0; i < one.length; i++) {
      most = Math.max(most, Math.abs(one[i] - other[i]));
    }
    return most;
  }
}
