package io.dynamo.request.tcp;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.inference.EngineOutput;
import io.dynamo.net.PayloadFormat;
import io.dynamo.request.RequestContext;
import io.dynamo.testing.CountingStream;
import io.dynamo.testing.ReactiveStreamsTck;
import java.util.Map;
import java.util.concurrent.Flow;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.reactivestreams.tck.flow.FlowPublisherVerification;

/** The publisher of a call, with a worker of ours behind it. */
class TcpCallTckTest {
  private static final String ELEMENTS = "elements";

  private final TestPlane plane =
      new TestPlane(TestPlane.settings(PayloadFormat.MSGPACK, 1 << 20, 256));
  private final Instance instance =
      plane.instance(
          plane.serve(
              (request, context) ->
                  CountingStream.of(
                      Long.parseLong(String.valueOf(context.metadata().get(ELEMENTS))),
                      EngineOutput::ofTokens)));

  @AfterEach
  void closePlane() {
    plane.close();
  }

  private final class Verification extends FlowPublisherVerification<EngineOutput> {
    Verification() {
      super(ReactiveStreamsTck.environment());
    }

    @Override
    public long maxElementsFromPublisher() {
      return 10_000;
    }

    @Override
    public Flow.Publisher<EngineOutput> createFlowPublisher(long elements) {
      return plane.call(
          instance,
          new RequestContext(
              "r",
              Map.of(ELEMENTS, String.valueOf(elements)),
              Map.of(),
              Deadline.after(TestPlane.PATIENCE),
              new Cancellation()));
    }

    @Override
    public Flow.Publisher<EngineOutput> createFailedFlowPublisher() {
      var nowhere = new TransportAddress.Tcp("no address", Captured.CHAT_PATH);
      return plane.call(
          new Instance(TestPlane.ENDPOINT, TestPlane.ID, nowhere, null, PayloadFormat.MSGPACK),
          TestPlane.context());
    }
  }

  @TestFactory
  Stream<DynamicTest> obeysEachRuleOfReactiveStreams() {
    return ReactiveStreamsTck.rules(Verification::new);
  }
}
