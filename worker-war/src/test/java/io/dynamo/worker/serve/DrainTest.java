package io.dynamo.worker.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.concurrent.Deadline;
import io.dynamo.concurrent.ItemStream;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.inference.EngineOutput;
import io.dynamo.request.EndpointServer;
import io.dynamo.worker.engine.Collected;
import io.dynamo.worker.engine.Requests;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class DrainTest {
  private final AtomicInteger looks = new AtomicInteger(); // look-ups of another worker
  private final Handovers streams =
      new Handovers(
          (request, context) -> new ItemStream<EngineOutput>(8, () -> {}, () -> {}),
          System::nanoTime);
  private final Collected answer =
      Collected.all(streams.handle(Requests.of(new int[] {1}, 5), Requests.context()));
  private int waits;

  /** An endpoint with the one answer; each wait ends at once. */
  private final EndpointServer.Served served =
      new EndpointServer.Served() {
        @Override
        public TransportAddress address() {
          throw new UnsupportedOperationException();
        }

        @Override
        public int inFlight() {
          return answer.isEnded() ? 0 : 1;
        }

        @Override
        public boolean drain(Deadline deadline) {
          waits++;
          return answer.isEnded();
        }

        @Override
        public void close() {
          throw new UnsupportedOperationException();
        }
      };

  private Drain drain(int successorFromLook) {
    return new Drain(
        streams, new Drain.Plan(Duration.ZERO, () -> looks.incrementAndGet() >= successorFromLook));
  }

  @Test
  void unfinishedStreamsAreHandedOverOnceAnotherWorkerIsLive() throws Exception {
    var drain = drain(3);
    assertThat(drain.run(served, Deadline.after(Duration.ofMinutes(1)))).isTrue();
    assertThat(drain.handedOver()).isOne();
    assertThat(looks).hasValue(3);
  }

  @Test
  void movesGetHalfOfTheTimeThatIsLeft() throws Exception {
    var given = new AtomicReference<Deadline>();
    var plan = new Drain.Plan(Duration.ZERO, () -> true, (_, _, deadline) -> given.set(deadline));
    var drain = new Drain(streams, plan);
    assertThat(drain.run(served, Deadline.after(Duration.ofMinutes(60)))).isTrue();
    assertThat(drain.handedOver()).isOne();
    assertThat(given.get().remainingNanos())
        .isLessThanOrEqualTo(Duration.ofMinutes(30).toNanos())
        .isGreaterThan(Duration.ofMinutes(29).toNanos());
  }

  @Test
  void withoutAnotherWorkerStreamsStayToTheDeadline() throws Exception {
    var drain = drain(Integer.MAX_VALUE);
    assertThat(drain.run(served, Deadline.after(Duration.ofMillis(20)))).isFalse();
    assertThat(drain.handedOver()).isZero();
    assertThat(answer.isEnded()).isFalse();
  }

  @Test
  void streamsThatEndWhileAllAreLetBeNeedNobodyElse() throws Exception {
    streams.handOver(0);
    var drain = drain(0);
    assertThat(drain.run(served, Deadline.after(Duration.ofMinutes(1)))).isTrue();
    assertThat(looks).hasValue(0);
    assertThat(waits).isOne();
  }
}
