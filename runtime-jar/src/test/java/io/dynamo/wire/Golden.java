package io.dynamo.wire;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Captured bytes, and the plainest reader of their frames. */
public final class Golden {
  /** A two-part frame. */
  public record Frame(byte[] header, byte[] body) {}

  /** A request frame. */
  public record Request(byte[] path, byte[] headers, Frame payload) {}

  private Golden() {}

  public static byte[] bytes(String name) {
    try (var in = Golden.class.getResourceAsStream("/golden/" + name)) {
      if (in == null) {
        throw new IllegalArgumentException("no golden file " + name);
      }
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public static List<Frame> frames(String name) {
    return frames(ByteBuffer.wrap(bytes("response-stream/" + name)));
  }

  private static List<Frame> frames(ByteBuffer from) {
    List<Frame> frames = new ArrayList<>();
    while (from.hasRemaining()) {
      frames.add(frame(from));
    }
    return frames;
  }

  public static Frame frame(ByteBuffer from) {
    int header = Math.toIntExact(from.getLong());
    int body = Math.toIntExact(from.getLong());
    from.getLong();
    return new Frame(take(from, header), take(from, body));
  }

  public static Request request(String name) {
    var from = ByteBuffer.wrap(bytes("request-tcp/" + name + ".request.bin"));
    var path = take(from, from.getShort());
    var headers = take(from, from.getShort());
    from.getInt();
    return new Request(path, headers, frame(from));
  }

  /** The bodies of the frames without a header. */
  public static List<byte[]> bodies(String name) {
    return frames(name).stream().filter(f -> f.header().length == 0).map(Frame::body).toList();
  }

  private static byte[] take(ByteBuffer from, int count) {
    var bytes = new byte[count];
    from.get(bytes);
    return bytes;
  }

  public static byte[] until(byte[] bytes, int length) {
    return Arrays.copyOf(bytes, length);
  }
}
