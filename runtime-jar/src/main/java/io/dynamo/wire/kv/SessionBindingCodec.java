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
 * 1.6.1 tell no sequence and call the writer {@code router_id}. Stateless.
 */
public final class SessionBindingCodec {
  private static final Keys BINDING =
      new Keys("session_id", "worker_id", "dp_rank", "sequence", "writer_id", "router_id");

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
   * Reads a payload whole; keys in any order, those that we do not know are passed over.
   *
   * @throws IllegalArgumentException when it is no binding of a session
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
    for (int key = in.nextKey(BINDING); key != Keys.END; key = in.nextKey(BINDING)) {
      switch (key) {
        case 0 -> session = in.string();
        case 1 -> worker = new InstanceId(in.unsigned());
        case 2 -> rank = in.isNil() ? null : (Integer) in.smallInteger();
        case 3 -> sequence = in.unsigned();
        case 4, 5 -> writer = new InstanceId(in.unsigned());
        default -> in.skip();
      }
    }
    if (session == null || worker == null || writer == null) {
      throw new IOException("a session binding lacks session_id, worker_id or writer_id");
    }
    return new SessionBinding(session, worker, rank, sequence, writer);
  }
}
