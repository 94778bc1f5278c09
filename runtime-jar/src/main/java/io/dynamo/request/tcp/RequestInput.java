package io.dynamo.request.tcp;

import io.dynamo.net.PayloadFormat;
import io.dynamo.pipeline.CallHomeServer;
import io.dynamo.wire.MessageCodec;
import io.dynamo.wire.request.ConnectionInfo;
import org.jspecify.annotations.Nullable;

/**
 * The input that a call sends to the worker besides the request's head. Safe for concurrent use.
 */
interface RequestInput {
  /** Returns the body that is sent in the request frame. */
  byte[] body(PayloadFormat format);

  /**
   * Prepares for the worker to call home for the input.
   *
   * @param address the address of {@code callHome}
   * @param call the call, which is failed when the input fails
   * @return where the worker is to call; null when the whole request is in the body
   */
  @Nullable ConnectionInfo open(CallHomeServer callHome, String address, TcpCall<?, ?> call);

  /** Whether the worker has called home for all the input that it needs. */
  boolean calledFor();

  /** Stops the input early because the caller sends no further items. */
  void stop();

  /** Releases the input because the call has ended. */
  void close();

  /** Returns the input of a request that is sent whole in the body. */
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
