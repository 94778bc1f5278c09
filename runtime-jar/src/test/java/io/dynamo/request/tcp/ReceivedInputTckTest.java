package io.dynamo.request.tcp;

import io.dynamo.concurrent.ItemStream;
import io.dynamo.discovery.Instance;
import io.dynamo.net.PayloadFormat;
import io.dynamo.testing.CountingStream;
import io.dynamo.testing.ReactiveStreamsTck;
import io.dynamo.wire.AnyCodec;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.reactivestreams.tck.flow.FlowPublisherVerification;

/** The publisher that a handler of request streams gets, with a requester of ours behind it. */
class ReceivedInputTckTest {
  private static final AnyCodec CODEC = new AnyCodec();

  private final TestPlane plane =
      new TestPlane(TestPlane.settings(PayloadFormat.MSGPACK, 1 << 20, 256));
  private final BlockingQueue<Flow.Publisher<Map<?, ?>>> inputs = new ArrayBlockingQueue<>(256);
  private final Instance instance =
      plane.instance(
          plane.server.<Map<?, ?>, Map<?, ?>>serveStreams(
              TestPlane.ENDPOINT,
              TestPlane.ID,
              (requests, context) -> {
                inputs.add(requests);
                return new ItemStream<>(1, () -> {}, () -> {});
              },
              CODEC));

  @AfterEach
  void closePlane() {
    plane.close();
  }

  private final class Verification extends FlowPublisherVerification<Map<?, ?>> {
    Verification() {
      super(ReactiveStreamsTck.environment());
    }

    @Override
    public long maxElementsFromPublisher() {
      return 10_000;
    }

    @Override
    public Flow.Publisher<Map<?, ?>> createFlowPublisher(long elements) {
      var caller =
          Collector.all(
              plane.client.exchange(
                  instance,
                  CountingStream.<Map<?, ?>>of(elements, i -> Map.of("i", i)),
                  CODEC,
                  TestPlane.context()));
      try {
        var input = inputs.poll(TestPlane.PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        if (input == null) {
          throw new AssertionError("no input; the call ended: " + caller.hasEnded());
        }
        return input;
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }

    @Override
    public Flow.@org.jspecify.annotations.Nullable Publisher<Map<?, ?>>
        createFailedFlowPublisher() {
      return null; // an input fails after it was handed over: see TcpBidirectionalTest
    }
  }

  @TestFactory
  Stream<DynamicTest> obeysEachRuleOfReactiveStreams() {
    return ReactiveStreamsTck.rules(Verification::new);
  }
}
