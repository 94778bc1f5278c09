package io.dynamo.transfer.nixl;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * The beginning of an agent's metadata, as NIXL writes it: its name and how each of its backends is
 * reached. Read before NIXL gets the bytes, so that damaged ones are refused here.
 *
 * @param name of the agent
 * @param backends of which it has connections
 */
record AgentDescription(String name, List<String> backends) {
  private static final byte[] START = "nixlSerDes|".getBytes(StandardCharsets.US_ASCII);
  private static final int LONGEST_NAME = 1024;
  private static final int LONGEST_CONNECTION = 1 << 20;
  private static final int MOST_BACKENDS = 64;

  AgentDescription {
    backends = List.copyOf(backends);
  }

  /**
   * Reads metadata.
   *
   * @throws IllegalArgumentException when the bytes are not an agent's
   */
  static AgentDescription of(byte[] metadata) {
    var in = ByteBuffer.wrap(metadata).order(ByteOrder.LITTLE_ENDIAN);
    try {
      require(in, START);
      var name = new String(record(in, "Agent", LONGEST_NAME), StandardCharsets.UTF_8);
      var count = record(in, "Conns", Long.BYTES);
      long connections = ByteBuffer.wrap(count).order(ByteOrder.LITTLE_ENDIAN).getLong();
      if (connections < 0 || connections > MOST_BACKENDS || name.indexOf('\0') >= 0) {
        throw damaged();
      }
      var backends = new ArrayList<String>();
      for (int i = 0; i < connections; i++) {
        backends.add(new String(record(in, "t", LONGEST_NAME), StandardCharsets.UTF_8));
        var _ = record(in, "c", LONGEST_CONNECTION);
      }
      return new AgentDescription(name, backends);
    } catch (BufferUnderflowException e) {
      throw damaged();
    }
  }

  /** Reads a record: tag, length of eight bytes, as many bytes, a bar. */
  private static byte[] record(ByteBuffer in, String tag, int most) {
    require(in, tag.getBytes(StandardCharsets.US_ASCII));
    long length = in.getLong();
    if (length < 1 || length > most) {
      throw damaged();
    }
    var bytes = new byte[(int) Math.min(length, in.remaining())];
    in.get(bytes);
    require(in, new byte[] {'|'});
    return bytes;
  }

  private static void require(ByteBuffer in, byte[] expected) {
    for (byte one : expected) {
      if (in.get() != one) {
        throw damaged();
      }
    }
  }

  private static IllegalArgumentException damaged() {
    return new IllegalArgumentException("nixl_metadata is not that of an agent of NIXL");
  }
}
