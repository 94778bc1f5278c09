package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.OverloadedException;
import io.dynamo.frontend.preprocess.ChatPrompt;
import io.dynamo.frontend.preprocess.NoText;
import io.dynamo.frontend.preprocess.PromptText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PreprocessorTest {
  private static final ChatPrompt PROMPT = new ChatPrompt(List.of(), List.of(), Map.of());
  private static final int LONG = 1 << 20; // bytes of a request
  private static final Executor VIRTUAL = Thread::startVirtualThread;

  private final Preprocessor preprocessor = new Preprocessor(1, 1);
  private final Gate gate = new Gate();

  @AfterEach
  void close() {
    gate.open.countDown();
    preprocessor.close();
  }

  /** A model that encodes when the test releases it; interrupts have no effect on it. */
  private static final class Gate extends NoText {
    final CountDownLatch open = new CountDownLatch(1);
    final CountDownLatch entered = new CountDownLatch(1);
    final AtomicInteger rendered = new AtomicInteger();
    final AtomicInteger encoded = new AtomicInteger();

    @Override
    public PromptText render(ChatPrompt prompt) {
      rendered.incrementAndGet();
      entered.countDown();
      boolean interrupted = false;
      while (true) {
        try {
          assertThat(open.await(30, TimeUnit.SECONDS)).isTrue();
          break;
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
      return PromptText.whole("text");
    }

    @Override
    public int[] encode(PromptText prompt, int maxTokens) {
      encoded.incrementAndGet();
      assertThat(Thread.currentThread().isVirtual()).isFalse();
      return new int[] {1, 2};
    }
  }

  private CompletableFuture<int[]> start(Cancellation cancellation) {
    var result = new CompletableFuture<int[]>();
    VIRTUAL.execute(
        () -> {
          try {
            result.complete(
                preprocessor.run(
                    gate,
                    text -> text.encode(text.render(PROMPT)),
                    LONG,
                    Deadline.after(Duration.ofSeconds(30)),
                    cancellation));
          } catch (RuntimeException | InterruptedException e) {
            result.completeExceptionally(e);
          }
        });
    return result;
  }

  @Test
  void promptsPastTheQueueAreRefusedAtOnce() throws Exception {
    var working = start(new Cancellation());
    assertThat(gate.entered.await(30, TimeUnit.SECONDS)).isTrue();
    var first = start(new Cancellation());
    var second = start(new Cancellation());

    var refused = CompletableFuture.anyOf(first, second);

    assertThatThrownBy(() -> refused.get(30, TimeUnit.SECONDS))
        .hasCauseInstanceOf(OverloadedException.class);
    gate.open.countDown();
    assertThat(working.get(30, TimeUnit.SECONDS)).containsExactly(1, 2);
  }

  @Test
  void aClientThatLeavesFreesItsPlaceAndItsPromptIsNotTokenised() throws Exception {
    var working = new Cancellation();
    var left = start(working);
    assertThat(gate.entered.await(30, TimeUnit.SECONDS)).isTrue();
    var waiting = new Cancellation();
    var alsoLeft = start(waiting);

    working.kill();
    assertThatThrownBy(() -> left.get(30, TimeUnit.SECONDS))
        .hasCauseInstanceOf(CancelledException.class);
    waiting.kill();
    assertThatThrownBy(() -> alsoLeft.get(30, TimeUnit.SECONDS))
        .hasCauseInstanceOf(CancelledException.class);
    gate.open.countDown();

    assertThat(start(new Cancellation()).get(30, TimeUnit.SECONDS)).containsExactly(1, 2);
    assertThat(gate.rendered).hasValue(2);
    assertThat(gate.encoded).hasValue(1);
  }

  @Test
  void aPromptIsNotWaitedForPastItsDeadline() {
    assertThatThrownBy(
            () ->
                preprocessor.run(
                    gate,
                    text -> text.encode(text.render(PROMPT)),
                    LONG,
                    Deadline.after(Duration.ofMillis(1)),
                    new Cancellation()))
        .isInstanceOf(DeadlineExceededException.class);
  }

  @Test
  void theTemplatesRefusalIsTheCallers() {
    var model =
        new NoText() {
          @Override
          public PromptText render(ChatPrompt prompt) {
            throw new InvalidRequestException("no system role");
          }
        };

    assertThatThrownBy(
            () ->
                preprocessor.run(
                    model,
                    text -> text.encode(text.render(PROMPT)),
                    LONG,
                    Deadline.after(Duration.ofSeconds(30)),
                    new Cancellation()))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessage("no system role");
  }

  @Test
  void shortPromptsAreTokenisedOnTheCallersThread() throws InterruptedException {
    var workers = new ArrayList<Thread>();
    for (long bytes : new long[] {100, 1 << 20}) {
      preprocessor.run(
          gate,
          text -> workers.add(Thread.currentThread()),
          bytes,
          Deadline.after(Duration.ofSeconds(30)),
          new Cancellation());
    }
    assertThat(workers.getFirst()).isSameAs(Thread.currentThread());
    assertThat(workers.getLast()).isNotSameAs(Thread.currentThread());
  }

  /** The pool has one thread. */
  @Test
  void abandonedWorkIsInterrupted() throws InterruptedException {
    var cancellation = new Cancellation();
    var working = new CountDownLatch(1);
    var given = new CompletableFuture<int[]>();
    VIRTUAL.execute(
        () -> {
          try {
            given.complete(
                preprocessor.run(
                    gate,
                    _ -> {
                      working.countDown();
                      while (!Thread.currentThread().isInterrupted()) {
                        Thread
                            .onSpinWait(); // as a template or a tokenizer, which look now and then
                      }
                      throw new CancelledException("nobody waits");
                    },
                    LONG,
                    Deadline.after(Duration.ofSeconds(30)),
                    cancellation));
          } catch (RuntimeException | InterruptedException e) {
            given.completeExceptionally(e);
          }
        });
    assertThat(working.await(30, TimeUnit.SECONDS)).isTrue();
    cancellation.kill();
    assertThatThrownBy(given::join).hasCauseInstanceOf(CancelledException.class);
    boolean interrupted =
        preprocessor.run(
            gate,
            _ -> Thread.currentThread().isInterrupted(),
            LONG,
            Deadline.after(Duration.ofSeconds(30)),
            new Cancellation());
    assertThat(interrupted).as("the next one's work too").isFalse();
  }
}
