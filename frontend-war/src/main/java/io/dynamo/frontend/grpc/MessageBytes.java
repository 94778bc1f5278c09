package io.dynamo.frontend.grpc;

import io.grpc.KnownLength;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;

/** Leaves messages as the bytes that they are on the wire. */
enum MessageBytes implements MethodDescriptor.Marshaller<byte[]> {
  INSTANCE;

  /**
   * A message that cannot be sent: instead, its call is reset. gRPC has no other way to end a call
   * whose client does not read, as a status would wait behind what is unread.
   */
  static final byte[] RESET = {};

  private static final class Bytes extends ByteArrayInputStream implements KnownLength {
    Bytes(byte[] message) {
      super(message);
    }
  }

  @Override
  @SuppressWarnings("ReferenceEquality") // an empty message is another one
  public InputStream stream(byte[] message) {
    if (message == RESET) {
      throw Status.CANCELLED.withDescription("the answer is not read").asRuntimeException();
    }
    return new Bytes(message);
  }

  @Override
  public byte[] parse(InputStream stream) {
    try (stream) {
      return stream.readAllBytes();
    } catch (IOException e) {
      throw Status.INTERNAL
          .withDescription("a message broke off")
          .withCause(e)
          .asRuntimeException();
    }
  }
}
