package io.dynamo.request.tcp;

import io.dynamo.error.DynamoException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.WorkerBusyException;
import io.dynamo.error.WorkerLostException;
import io.dynamo.pipeline.FrameException;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The acknowledgement texts with which a worker refuses a request frame; an empty text accepts it.
 */
final class Acks {
  static final String OVERLOADED = "Server overloaded: worker at capacity";
  static final String INVALID_PATH = "Invalid endpoint path";
  static final String UNREADABLE = "Server unavailable: undecodable control message";

  private static final int MAX_BYTES = 64 * 1024;
  private static final int MAX_PATH_CHARS = 512;
  private static final String TOO_LARGE = "Read error: message too large";

  private Acks() {}

  /**
   * Returns the refusal of an unknown endpoint. An overlong path is cut: the requester sent it and
   * knows it in full.
   */
  static String unknownEndpoint(String path) {
    return "Server unavailable: unknown endpoint "
        + (path.length() > MAX_PATH_CHARS ? path.substring(0, MAX_PATH_CHARS) + "..." : path);
  }

  /** Returns the status of HTTP that goes with the text of a refusal. */
  static int httpStatus(String text) {
    if (text.equals(OVERLOADED)) {
      return 503;
    }
    return text.startsWith("Server unavailable: unknown endpoint") ? 404 : 400;
  }

  static String tooLarge(long bytes, int maxBytes) {
    return "%s: %d bytes (max: %d bytes)".formatted(TOO_LARGE, bytes, maxBytes);
  }

  static String pathTooLong(int bytes, int maxBytes) {
    return "Read error: endpoint path too long: %d bytes (max: %d bytes)"
        .formatted(bytes, maxBytes);
  }

  /**
   * Removes the text of the next acknowledgement from {@code in}; null while it is incomplete.
   *
   * @throws FrameException when it is longer than any refusal
   */
  static @Nullable String read(ByteBuf in) throws FrameException {
    if (in.readableBytes() < 4) {
      return null;
    }
    long length = in.getUnsignedInt(in.readerIndex());
    if (length > MAX_BYTES) {
      throw new FrameException(
          "acknowledgement of %d bytes exceeds %d bytes".formatted(length, MAX_BYTES));
    }
    if (in.readableBytes() < 4 + length) {
      return null;
    }
    in.skipBytes(4);
    return length == 0 ? "" : in.readCharSequence((int) length, StandardCharsets.UTF_8).toString();
  }

  /**
   * Translates the text of a refusal into an exception. Dynamo's frontends take an unknown text for
   * success and then hang; here it counts as a lost worker.
   */
  static DynamoException failure(String text) {
    if (text.startsWith("Server overloaded:")) {
      return new WorkerBusyException(text);
    }
    if (text.startsWith("Server unavailable:") || text.startsWith("Unknown endpoint:")) {
      return new WorkerLostException(ErrorCode.WORKER_UNAVAILABLE, text);
    }
    if (text.startsWith(TOO_LARGE)) {
      return new InvalidRequestException("the worker refused the request: " + text);
    }
    return new WorkerLostException(
        ErrorCode.CANNOT_CONNECT, "the worker refused the request: " + text);
  }
}
