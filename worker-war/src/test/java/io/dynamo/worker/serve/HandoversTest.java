package io.dynamo.worker.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.concurrent.Deadline;
import io.dynamo.concurrent.ItemStream;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.WorkerLostException;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.GuidedDecoding;
import io.dynamo.inference.OutputOptions;
import io.dynamo.inference.PassedOn;
import io.dynamo.inference.RoutingHints;
import io.dynamo.inference.SamplingOptions;
import io.dynamo.worker.engine.Collected;
import io.dynamo.worker.engine.Requests;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class HandoversTest {
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  private final AtomicLong clock = new AtomicLong();
  private final List<ItemStream<EngineOutput>> engine = new ArrayList<>();
  private final AtomicInteger givenUp = new AtomicInteger();
  private final Handovers handovers =
      new Handovers(
          (request, context) -> {
            engine.add(new ItemStream<>(64, () -> {}, givenUp::incrementAndGet));
            return engine.getLast();
          },
          clock::get);

  private Collected ask(GenerateRequest request) {
    return Collected.all(handovers.handle(request, Requests.context()));
  }

  private static GenerateRequest request(@Nullable Integer budget) {
    return Requests.of(new int[] {1}, budget);
  }

  /** Sends a token now and {@code more} after it, one each second. */
  private void atOneTokenPerSecond(int more) {
    engine.getLast().offer(EngineOutput.ofTokens(0));
    for (int i = 1; i <= more; i++) {
      clock.addAndGet(SECOND);
      engine.getLast().offer(EngineOutput.ofTokens(i));
    }
  }

  @Test
  void aStreamThatIsHandedOverEndsAfterItsItemsSoThatItsRequesterMigrates() {
    var answer = ask(request(100));
    atOneTokenPerSecond(2);

    assertThat(handovers.handOver(10 * SECOND)).isOne();

    assertThat(answer.tokens()).containsExactly(0, 1, 2);
    assertThat(answer.failure())
        .isInstanceOfSatisfying(
            WorkerLostException.class,
            lost -> assertThat(lost.code()).isEqualTo(ErrorCode.BACKEND_ENGINE_SHUTDOWN));
    assertThat(givenUp).as("passed to the engine").hasValue(1);
    engine.getLast().offer(EngineOutput.ofTokens(3));
    assertThat(answer.tokens()).as("nothing follows the error").hasSize(3);
    assertThat(handovers.handOver(0)).as("once").isZero();
  }

  @Test
  void blocksAreMovedBeforeTheStreamEnds() throws Exception {
    var answers = List.of(ask(request(100)), ask(request(100)), ask(request(100)));
    var moved = new ConcurrentLinkedQueue<Boolean>(); // whether a stream had ended before its move
    var soon = Deadline.after(Duration.ofSeconds(20));
    int ended =
        handovers.handOver(
            0,
            (_, _, deadline) -> {
              assertThat(deadline).isEqualTo(soon);
              moved.add(answers.stream().allMatch(Collected::isEnded));
            },
            soon);
    assertThat(ended).isEqualTo(3);
    assertThat(moved).hasSize(3).containsOnly(false);
    assertThat(answers).allMatch(Collected::isEnded);
  }

  private List<Collected> threeStreams() {
    return List.of(ask(request(100)), ask(request(100)), ask(request(100)));
  }

  @Test
  void aMoverThatFailsDoesNotKeepStreamsHere() throws Exception {
    var answers = threeStreams();
    int ended =
        handovers.handOver(
            0,
            (_, _, _) -> {
              throw new IllegalStateException("no such worker");
            },
            Deadline.after(Duration.ofSeconds(20)));
    assertThat(ended).isEqualTo(3);
    assertThat(answers).allMatch(Collected::isEnded);
  }

  @Test
  void nothingIsMovedAfterTheDeadline() throws Exception {
    var answers = threeStreams();
    var moves = new AtomicInteger();
    int ended =
        handovers.handOver(
            0, (_, _, _) -> moves.incrementAndGet(), Deadline.after(Duration.ofSeconds(-1)));
    assertThat(ended).isEqualTo(3);
    assertThat(moves).hasValue(0);
    assertThat(answers).allMatch(Collected::isEnded);
  }

  @Test
  void movesThatHangEndWithTheDeadline() throws Exception {
    var answers = threeStreams();
    var working = new AtomicInteger();
    int ended =
        handovers.handOver(
            0, hanging(working, new CountDownLatch(3)), Deadline.after(Duration.ofMillis(20)));
    assertThat(ended).isEqualTo(3);
    assertThat(working).hasValue(0);
    assertThat(answers).allMatch(Collected::isEnded);
  }

  @Test
  void anInterruptedHandoverLeavesNeitherStreamsNorMovers() throws Exception {
    var answers = threeStreams();
    var working = new AtomicInteger();
    var begun = new CountDownLatch(3);
    var interrupted = new CompletableFuture<InterruptedException>();
    var draining =
        Thread.ofVirtual()
            .start(
                () -> {
                  try {
                    handovers.handOver(
                        0, hanging(working, begun), Deadline.after(Duration.ofMinutes(10)));
                  } catch (InterruptedException e) {
                    interrupted.complete(e);
                  }
                });
    assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
    draining.interrupt();
    assertThat(interrupted.get(20, TimeUnit.SECONDS)).isNotNull();
    assertThat(working).hasValue(0);
    assertThat(answers).allMatch(Collected::isEnded);
  }

  /** Returns a mover whose moves end by interruption only. */
  private static BlockMover hanging(AtomicInteger working, CountDownLatch begun) {
    return (_, _, _) -> {
      working.incrementAndGet();
      begun.countDown();
      try {
        new CountDownLatch(1).await();
      } finally {
        working.decrementAndGet();
      }
    };
  }

  @Test
  void aStreamThatEndsInTimeAtItsPaceStays() {
    var answer = ask(request(10));
    atOneTokenPerSecond(4);

    assertThat(handovers.handOver(5 * SECOND)).isZero();
    assertThat(handovers.handOver(5 * SECOND - 1)).isOne();
    assertThat(answer.isEnded()).isTrue();
  }

  @Test
  void aStreamWithoutATokenOrABudgetMayTakeForEver() {
    ask(request(10));
    assertThat(handovers.handOver(1000 * SECOND)).isOne();
    ask(request(null));
    atOneTokenPerSecond(4);
    assertThat(handovers.handOver(1000 * SECOND)).isOne();
  }

  @Test
  void requestsThatNoOtherWorkerCanContinueStay() {
    var pinned =
        request(100).routedTo(new RoutingHints(0, PassedOn.of(Map.of("backend_instance_id", 7L))));
    ask(pinned);
    assertThat(handovers.handOver(0)).isZero();

    var guided = guided();
    ask(guided);
    atOneTokenPerSecond(1);
    assertThat(handovers.handOver(0)).as("a form that has begun").isZero();
    ask(guided);
    assertThat(handovers.handOver(0)).as("a form that has not").isOne();
  }

  private static GenerateRequest guided() {
    var request = request(100);
    var guided = new GuidedDecoding(null, null, List.of("a", "b"), null, null, null, null);
    var sampling =
        new SamplingOptions(
            null, null, null, null, null, null, null, null, null, null, guided, PassedOn.NONE);
    return Requests.of(request.tokenIds(), request.stop(), sampling, OutputOptions.DEFAULTS);
  }

  @Test
  void aStreamWhoseLastItemWasSentOrWhoseReaderIsGoneIsLeftAlone() {
    var whole = ask(request(1));
    engine.getLast().offer(EngineOutput.finish(FinishReason.LENGTH, null, 5));
    assertThat(handovers.handOver(0)).isZero();
    engine.getLast().complete();
    assertThat(whole.isEnded()).isTrue();
    assertThat(whole.failure()).isNull();

    ask(request(1)).cancel();
    assertThat(givenUp).hasValue(1);
    assertThat(handovers.handOver(0)).isZero();
  }

  @Test
  void nobodyHearsOfAnEndBeforeTheBeginning() {
    var heard = new ArrayList<String>();
    handovers
        .handle(request(100), Requests.context())
        .subscribe(
            new Flow.Subscriber<>() {
              @Override
              public void onSubscribe(Flow.Subscription subscription) {
                handovers.handOver(0); // a drain at the worst moment
                heard.add("begin");
                subscription.request(1);
              }

              @Override
              public void onNext(EngineOutput item) {
                heard.add("item");
              }

              @Override
              public void onError(Throwable cause) {
                heard.add("end");
              }

              @Override
              public void onComplete() {
                heard.add("end");
              }
            });
    assertThat(handovers.handOver(0)).isOne();
    assertThat(heard).containsExactly("begin", "end");
  }

  @Test
  void failuresOfTheEnginePass() {
    var answer = ask(request(1));
    var failure = new IllegalStateException("x");
    engine.getLast().fail(failure);
    assertThat(answer.failure()).isSameAs(failure);
  }
}
