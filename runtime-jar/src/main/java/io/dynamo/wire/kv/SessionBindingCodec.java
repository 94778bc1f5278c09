package io.dynamo.wire.kv;

import io.dynamo.discovery.InstanceId;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.kv.SessionBinding;
import io.dynamo.net.PayloadFormat;
import io.dynamo.wire.Keys;
import io.dynamo.wire.WireReader;
import io.dynamo.wire.WireWriter;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * The payload of the topic {@code session_affinity_events}: one map per message. Routers before
 * 1.6.1 send no sequence and call the writer {@code router_id}. Stateless.
 */
public final class SessionBindingCodec {
  /** The positions of the names in {@link #KEYS}. */
  private static final class Field {
    static final int SESSION_ID = 0;
    static final int WORKER_ID = 1;
    static final int DP_RANK = 2;
    static final int SEQUENCE = 3;
    static final int WRITER_ID = 4;
    static final int ROUTER_ID = 5;
    static final Keys KEYS =
        new Keys(
            Keys.entry(SESSION_ID, "session_id"),
            Keys.entry(WORKER_ID, "worker_id"),
            Keys.entry(DP_RANK, "dp_rank"),
            Keys.entry(SEQUENCE, "sequence"),
            Keys.entry(WRITER_ID, "writer_id"),
            Keys.entry(ROUTER_ID, "router_id"));
  }

  private SessionBindingCodec() {}

  public static byte[] encode(SessionBinding binding) {
    return WireWriter.write(binding, PayloadFormat.MSGPACK, SessionBindingCodec::write);
  }

  private static void write(WireWriter out, SessionBinding binding) throws IOException {
    out.beginMap(5);
    out.key("session_id");
    out.string(binding.sessionId());
    out.key("worker_id");
    out.unsigned(binding.worker().value());
    out.integerOrNil("dp_rank", binding.rank());
    out.key("sequence");
    out.unsigned(binding.sequence());
    out.key("writer_id");
    out.unsigned(binding.writer().value());
    out.endMap();
  }

  /**
   * Reads a whole payload; keys in any order, unknown ones are ignored.
   *
   * @throws IllegalArgumentException when it is not a binding of a session
   */
  public static SessionBinding decode(byte[] payload) {
    try {
      return WireReader.read(
          "session binding",
          ByteBuffer.wrap(payload),
          PayloadFormat.MSGPACK,
          SessionBindingCodec::read);
    } catch (InvalidRequestException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
  }

  private static SessionBinding read(WireReader in) throws IOException {
    String session = null;
    InstanceId worker = null;
    Integer rank = null;
    long sequence = 0;
    InstanceId writer = null;
    in.beginMap();
    for (int key = in.nextKey(Field.KEYS); key != Keys.END; key = in.nextKey(Field.KEYS)) {
      switch (key) {
        case Field.SESSION_ID -> session = in.string();
        case Field.WORKER_ID -> worker = new InstanceId(in.unsigned());
        case Field.DP_RANK -> rank = in.isNil() ? null : (Integer) in.smallInteger();
        case Field.SEQUENCE -> sequence = in.unsigned();
        case Field.WRITER_ID, Field.ROUTER_ID -> writer = new InstanceId(in.unsigned());
        default -> in.skip();
      }
    }
    if (session == null || worker == null || writer == null) {
      throw new IOException("a session binding lacks session_id, worker_id or writer_id");
    }
    return new SessionBinding(session, worker, rank, sequence, writer);
  }
}
