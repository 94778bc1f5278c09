package io.dynamo.request.tcp;

import io.dynamo.net.PayloadFormat;
import io.dynamo.pipeline.CallHomeServer;
import io.dynamo.wire.MessageCodec;
import io.dynamo.wire.request.ConnectionInfo;
import org.jspecify.annotations.Nullable;

/** The request that a call sends to the worker, beside its head. Safe for concurrent use. */
interface RequestInput {
  /** The body that travels with the head. */
  byte[] body(PayloadFormat format);

  /**
   * Makes ready for the worker to call for the input.
   *
   * @param address of {@code callHome}
   * @param call ends when the input fails
   * @return where, or null when all travels with the head
   */
  @Nullable ConnectionInfo open(CallHomeServer callHome, String address, TcpCall<?, ?> call);

  /** Whether the worker has called for all that it must. */
  boolean calledFor();

  /** The caller wants no more than is there. */
  void stop();

  /** The call is over. */
  void close();

  /** A request that travels whole. */
  static <Q> RequestInput whole(Q request, MessageCodec<Q, ?> codec) {
    return new RequestInput() {
      @Override
      public byte[] body(PayloadFormat format) {
        return codec.encodeRequest(request, format);
      }

      @Override
      public @Nullable ConnectionInfo open(
          CallHomeServer callHome, String address, TcpCall<?, ?> call) {
        return null;
      }

      @Override
      public boolean calledFor() {
        return true;
      }

      @Override
      public void stop() {}

      @Override
      public void close() {}
    };
  }
}
