package io.dynamo.request.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.concurrent.Deadline;
import io.dynamo.inference.EngineOutput;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A requester that reads on no more makes neither side hold more than its bounds. */
class TcpSlowReaderTest {
  /** A window of the larger items is 0.8 MB for the worker; the allocator takes whole chunks. */
  private static final long MAX_BYTES = 4 << 20;

  private final TestPlane plane = new TestPlane();

  @AfterEach
  void closePlane() {
    plane.close();
  }

  /** The bytes that both sides hold for their sockets. */
  private static long socketBytes() {
    return ByteBufAllocator.DEFAULT instanceof ByteBufAllocatorMetricProvider allocator
        ? allocator.metric().usedDirectMemory()
        : -1;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 4096})
  void aReaderThatAsksForNoMoreCostsBothSidesBoundedMemory(int tokensOfAnItem) throws Exception {
    var produced = new AtomicInteger();
    var item = EngineOutput.ofTokens(new int[tokensOfAnItem]);
    var served = plane.serve((request, context) -> new Endless(produced, _ -> item));
    long before = socketBytes();
    assertThat(before).isNotNegative();
    var caller = Collector.of(plane.call(served), 1);
    caller.awaitItems(1);
    int settled = Endless.awaitStandstill(produced);
    assertThat(settled).isGreaterThan(1);
    assertThat(socketBytes() - before).as("held after %d items", settled).isLessThan(MAX_BYTES);
    assertThat(caller.items()).hasSize(1);

    caller.cancel();
    assertThat(served.drain(Deadline.after(TestPlane.PATIENCE))).as("the answer ends").isTrue();
  }
}
