package io.dynamo.frontend.grpc;

import io.dynamo.frontend.kserve.InferCalls;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;

/** Starts the calls of {@code ModelInfer} and {@code ModelStreamInfer}. */
final class InferHandler implements ServerCallHandler<byte[], byte[]> {
  /**
   * How long a client may take.
   *
   * @param upload from the first byte of a message to its last, {@code
   *     dynamo.frontend.upload-timeout}
   * @param idle of a stream of requests without one under way, {@code dynamo.grpc.idle-timeout}
   * @param writeStall to read, {@code dynamo.frontend.write-stall}
   */
  record Patience(Duration upload, Duration idle, Duration writeStall) {}

  private final InferCalls calls;
  private final Patience patience;
  private final ScheduledExecutorService timer;
  private final boolean streamed;

  /**
   * @param streamed whether a call has any number of requests, and answers in parts
   */
  InferHandler(
      InferCalls calls, Patience patience, ScheduledExecutorService timer, boolean streamed) {
    this.calls = calls;
    this.patience = patience;
    this.timer = timer;
    this.streamed = streamed;
  }

  @Override
  public ServerCall.Listener<byte[]> startCall(ServerCall<byte[], byte[]> call, Metadata headers) {
    var run =
        new InferCall(
            calls,
            CallMetadata.of(call, headers),
            new CallOutput(call, patience.writeStall()),
            Arrival.current(),
            patience,
            timer,
            streamed);
    run.begin();
    return run;
  }
}
