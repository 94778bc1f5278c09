package io.dynamo.frontend.grpc;

import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Answers calls that look something up: one message for one. */
final class LookupHandler implements ServerCallHandler<byte[], byte[]> {
  private static final System.Logger LOG = System.getLogger(LookupHandler.class.getName());

  private final UnaryOperator<byte[]> lookup;
  private final Duration writeStall;

  /**
   * @param lookup returns the answer to a request, or throws {@link ApiException}; must not block
   */
  LookupHandler(UnaryOperator<byte[]> lookup, Duration writeStall) {
    this.lookup = lookup;
    this.writeStall = writeStall;
  }

  @Override
  public ServerCall.Listener<byte[]> startCall(ServerCall<byte[], byte[]> call, Metadata headers) {
    var output = new CallOutput(call, writeStall);
    Arrival.current().listen(output::fail, () -> {});
    output.request();
    output.request();
    return new ServerCall.Listener<>() {
      private byte @Nullable [] request;

      @Override
      public void onMessage(byte[] message) {
        request = message;
      }

      @Override
      public void onHalfClose() {
        answer(request, output);
      }
    };
  }

  private void answer(byte @Nullable [] request, CallOutput output) {
    if (request == null) {
      output.fail(ApiError.of(400, "the call has no message"));
      return;
    }
    try {
      output.send(lookup.apply(request));
      output.complete();
    } catch (ApiException refused) {
      output.fail(refused.error());
    } catch (UncheckedIOException gone) {
      LOG.log(Level.DEBUG, "a client left before it was answered");
    }
  }
}
