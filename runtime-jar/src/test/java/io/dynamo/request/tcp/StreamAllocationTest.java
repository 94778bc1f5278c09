package io.dynamo.request.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.dynamo.inference.EngineOutput;
import io.dynamo.testing.CountingStream;
import io.netty.util.ResourceLeakDetector;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Measures the heap that a streamed item costs, on both sides and with their sockets. */
class StreamAllocationTest {
  /** The item takes 72 on each side; two thirds more for what a burst of them costs. */
  private static final long MAX_BYTES = 2 * 120;

  private static final int ITEMS = 10_000;
  private static final int ROUNDS = 7;

  private final TestPlane plane = new TestPlane();
  private final ResourceLeakDetector.Level level = ResourceLeakDetector.getLevel();

  /** It allocates more than all that is measured. */
  @BeforeEach
  void doWithoutLeakDetection() {
    ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.DISABLED);
  }

  @AfterEach
  void closePlane() {
    ResourceLeakDetector.setLevel(level);
    plane.close();
  }

  private static final class Last implements Flow.Subscriber<EngineOutput> {
    final CompletableFuture<Integer> counted = new CompletableFuture<>();
    private int count;

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
      subscription.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(EngineOutput item) {
      count++;
    }

    @Override
    public void onError(Throwable cause) {
      counted.completeExceptionally(cause);
    }

    @Override
    public void onComplete() {
      counted.complete(count);
    }
  }

  @Test
  void aStreamedItemAllocatesLittleOnBothSides() throws Exception {
    var served =
        plane.serve((request, context) -> CountingStream.of(ITEMS, EngineOutput::ofTokens));
    var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    var rounds = new long[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
      long before = threads.getTotalThreadAllocatedBytes();
      var caller = new Last();
      plane.call(served).subscribe(caller);
      assertThat(caller.counted.get(TestPlane.PATIENCE.toSeconds(), TimeUnit.SECONDS))
          .isEqualTo(ITEMS);
      rounds[round] = (threads.getTotalThreadAllocatedBytes() - before) / ITEMS;
    }
    Arrays.sort(rounds);
    assertThat(rounds[ROUNDS / 2]).as("bytes for each item").isBetween(1L, MAX_BYTES);
  }
}
