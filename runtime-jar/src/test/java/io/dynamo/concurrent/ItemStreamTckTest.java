package io.dynamo.concurrent;

import io.dynamo.testing.CountingStream;
import io.dynamo.testing.ReactiveStreamsTck;
import java.util.concurrent.Flow;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.reactivestreams.tck.flow.FlowPublisherVerification;

class ItemStreamTckTest {
  private static final class Verification extends FlowPublisherVerification<Integer> {
    Verification() {
      super(ReactiveStreamsTck.environment());
    }

    @Override
    public Flow.Publisher<Integer> createFlowPublisher(long elements) {
      return CountingStream.of(elements, i -> i);
    }

    @Override
    public Flow.Publisher<Integer> createFailedFlowPublisher() {
      var stream = new ItemStream<Integer>(1, () -> {}, () -> {});
      stream.fail(new IllegalStateException("thrown by the test"));
      return stream;
    }
  }

  @TestFactory
  Stream<DynamicTest> obeysEachRuleOfReactiveStreams() {
    return ReactiveStreamsTck.rules(Verification::new);
  }
}
