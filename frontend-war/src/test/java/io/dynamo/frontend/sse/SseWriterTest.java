package io.dynamo.frontend.sse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DynamoException;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Flow;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class SseWriterTest {
  /** Remembers each flushed piece. */
  private static final class Pieces extends OutputStream {
    final List<String> pieces = new ArrayList<>();
    private final ByteArrayOutputStream piece = new ByteArrayOutputStream();
    int writes;
    Runnable afterFlush = () -> {};

    @Override
    public void write(int b) {
      throw new AssertionError("one byte at a time");
    }

    @Override
    public void write(byte[] bytes, int from, int length) {
      writes++;
      piece.write(bytes, from, length);
    }

    @Override
    public void flush() {
      pieces.add(piece.toString(StandardCharsets.UTF_8));
      piece.reset();
      afterFlush.run();
    }
  }

  private static final class Letters implements FrameEncoder<String> {
    @Override
    public void item(String item, ByteText frames) {
      frames.ascii("data: ").ascii(item).ascii("\n\n");
    }

    @Override
    public void end(ByteText frames) {
      frames.ascii("data: [DONE]\n\n");
    }

    @Override
    public void failure(DynamoException cause, ByteText frames) {
      frames.ascii("error ").ascii(cause.code().wireName()).ascii("\n\n");
    }
  }

  private static final class Producer implements Flow.Subscription {
    final AtomicLong demand = new AtomicLong();
    volatile boolean cancelled;

    @Override
    public void request(long count) {
      demand.accumulateAndGet(count, (a, b) -> a + b < 0 ? Long.MAX_VALUE : a + b);
    }

    @Override
    public void cancel() {
      cancelled = true;
    }
  }

  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
  private final Inbox<String> inbox = new Inbox<>(8, new WakeSignal(timer));
  private final Producer producer = new Producer();
  private final Pieces out = new Pieces();

  SseWriterTest() {
    inbox.onSubscribe(producer);
  }

  @AfterEach
  void close() {
    timer.shutdownNow();
  }

  private SseWriter<String> writer(Duration heartbeat) {
    return new SseWriter<>(inbox, new Letters(), heartbeat, Duration.ZERO, client());
  }

  private static ClientConnection client() {
    return new ClientConnection(
        new InetSocketAddress(InetAddress.getLoopbackAddress(), 8000),
        new InetSocketAddress(InetAddress.getLoopbackAddress(), 40_000),
        new Cancellation());
  }

  @Test
  void readyItemsLeaveInOneWriteAndOneFlush() throws Exception {
    inbox.onNext("a");
    inbox.onNext("b");
    inbox.onNext("c");
    inbox.onComplete();

    assertThat(writer(Duration.ofHours(1)).writeTo(out)).isNull();
    assertThat(out.pieces).containsExactly("data: a\n\ndata: b\n\ndata: c\n\ndata: [DONE]\n\n");
    assertThat(out.writes).isEqualTo(1);
  }

  @Test
  void anItemThatCannotBeWrittenDownEndsTheStreamAndLeavesNoHalfFrame() throws Exception {
    inbox.onNext("a");
    inbox.onNext("poison");
    inbox.onNext("c");
    var broken =
        new FrameEncoder<String>() {
          private final Letters letters = new Letters();

          @Override
          public void item(String item, ByteText frames) {
            if (item.equals("poison")) {
              frames.ascii("data: half");
              throw new IllegalStateException("a fault of ours");
            }
            letters.item(item, frames);
          }

          @Override
          public void end(ByteText frames) {
            letters.end(frames);
          }

          @Override
          public void failure(DynamoException cause, ByteText frames) {
            letters.failure(cause, frames);
          }
        };
    var writer = new SseWriter<>(inbox, broken, Duration.ofHours(1), Duration.ZERO, client());
    assertThat(writer.writeTo(out)).hasCauseInstanceOf(IllegalStateException.class);
    assertThat(out.pieces).containsExactly("data: a\n\nerror Unknown\n\n");
    assertThat(producer.cancelled).isTrue();
  }

  @Test
  void commentsBeatUntilTheFirstFrameAndNotAfterIt() throws Exception {
    out.afterFlush =
        () -> {
          switch (out.pieces.size()) {
            case 3 -> inbox.onNext("a");
            case 4 -> inbox.onComplete();
            default -> {}
          }
        };
    assertThat(writer(Duration.ofMillis(1)).writeTo(out)).isNull();
    assertThat(out.pieces)
        .containsExactly(": \n\n", ": \n\n", ": \n\n", "data: a\n\n", "data: [DONE]\n\n");
  }

  @Test
  void whereTheOperatorWantsItCommentsFillTheSilenceAfterTheFirstFrameToo() throws Exception {
    inbox.onNext("a");
    out.afterFlush =
        () -> {
          switch (out.pieces.size()) {
            case 3 -> inbox.onNext("b");
            case 5 -> inbox.onComplete();
            default -> {}
          }
        };
    var writer =
        new SseWriter<>(inbox, new Letters(), Duration.ofHours(1), Duration.ofMillis(1), client());
    assertThat(writer.writeTo(out)).isNull();
    assertThat(out.pieces)
        .containsExactly(
            "data: a\n\n", ": \n\n", ": \n\n", "data: b\n\n", ": \n\n", "data: [DONE]\n\n");
  }

  @Test
  void aFailureAfterItemsIsWrittenInAFrameBehindThem() throws Exception {
    inbox.onNext("a");
    inbox.onError(new EngineFailedException(ErrorCode.BACKEND_UNKNOWN, "broken", null));

    assertThat(writer(Duration.ofHours(1)).writeTo(out)).isInstanceOf(EngineFailedException.class);
    assertThat(String.join("", out.pieces)).isEqualTo("data: a\n\nerror Unknown\n\n");
  }

  @Test
  void aCancelledStreamEndsWithoutAWord() throws Exception {
    inbox.abort(new CancelledException("gone"));
    assertThat(writer(Duration.ofHours(1)).writeTo(out)).isInstanceOf(CancelledException.class);
    assertThat(out.pieces).isEmpty();
    assertThat(producer.cancelled).isTrue();
  }

  @Test
  void aFailedWriteCancelsTheProducer() {
    inbox.onNext("a");
    var broken =
        new OutputStream() {
          @Override
          public void write(int b) throws IOException {
            throw new IOException("Broken pipe");
          }
        };
    assertThatThrownBy(() -> writer(Duration.ofHours(1)).writeTo(broken))
        .isInstanceOf(IOException.class);
    assertThat(producer.cancelled).isTrue();
  }

  @Test
  void demandFollowsWhatWasTakenAndNeverExceedsTheInbox() {
    assertThat(producer.demand).hasValue(8);
    for (int i = 0; i < 8; i++) {
      inbox.onNext("x");
    }
    for (int i = 0; i < 4; i++) {
      inbox.poll();
    }
    assertThat(producer.demand).hasValue(12);
  }

  @Test
  void aPublisherThatIgnoresDemandBreaksItsOwnStream() {
    for (int i = 0; i < 9; i++) {
      inbox.onNext("x");
    }
    assertThat(producer.cancelled).isTrue();
    for (int i = 0; i < 8; i++) {
      assertThat(inbox.poll()).isEqualTo("x");
    }
    assertThatThrownBy(inbox::poll).isInstanceOf(EngineFailedException.class);
  }

  @Test
  @Timeout(10)
  void theFirstCommentDoesNotWaitForAHeartbeat() throws Exception {
    out.afterFlush =
        () -> {
          if (out.pieces.size() == 1) {
            inbox.onNext("a");
            inbox.onComplete();
          }
        };
    assertThat(writer(Duration.ofHours(1)).writeTo(out)).isNull();
    assertThat(out.pieces).containsExactly(": \n\n", "data: a\n\ndata: [DONE]\n\n");
  }

  @Test
  void afterTheLastFrameTheClientCannotBeLost() throws Exception {
    var client = client();
    inbox.onNext("a");
    inbox.onComplete();
    new SseWriter<>(inbox, new Letters(), Duration.ofHours(1), Duration.ZERO, client).writeTo(out);
    client.lose(ClientConnection.Loss.HUNG_UP);
    assertThat(client.loss()).isEqualTo(ClientConnection.Loss.NONE);
  }

  @Test
  void anInboxThatIsLeftDropsItemsAndRequestsAllOfThem() {
    inbox.onNext("a");
    inbox.leave();
    assertThat(producer.demand).hasValue(Long.MAX_VALUE);
    for (int i = 0; i < 100; i++) {
      inbox.onNext("x");
    }
    inbox.cancel();
    assertThat(producer.cancelled).isFalse();
    assertThat(inbox.poll()).isNull();
    inbox.onComplete();
    assertThat(inbox.ended()).isTrue();
  }
}
