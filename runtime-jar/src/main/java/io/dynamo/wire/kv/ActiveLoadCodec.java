package io.dynamo.wire.kv;

import io.dynamo.discovery.InstanceId;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.kv.ActiveLoad;
import io.dynamo.kv.WorkerRank;
import io.dynamo.net.PayloadFormat;
import io.dynamo.wire.Keys;
import io.dynamo.wire.WireReader;
import io.dynamo.wire.WireWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** The payload of the topic {@code kv_metrics}: Dynamo's {@code ActiveLoad} map. Stateless. */
public final class ActiveLoadCodec {
  /** The positions of the names in {@link #KEYS}. */
  private static final class Field {
    static final int WORKER_ID = 0;
    static final int DP_RANK = 1;
    static final int ACTIVE_DECODE_BLOCKS = 2;
    static final int ACTIVE_PREFILL_TOKENS = 3;
    static final int KV_USED_BLOCKS = 4;
    static final Keys KEYS =
        new Keys(
            Keys.entry(WORKER_ID, "worker_id"),
            Keys.entry(DP_RANK, "dp_rank"),
            Keys.entry(ACTIVE_DECODE_BLOCKS, "active_decode_blocks"),
            Keys.entry(ACTIVE_PREFILL_TOKENS, "active_prefill_tokens"),
            Keys.entry(KV_USED_BLOCKS, "kv_used_blocks"));
  }

  private ActiveLoadCodec() {}

  public static byte[] encode(ActiveLoad load) {
    return WireWriter.write(load, PayloadFormat.MSGPACK, ActiveLoadCodec::write);
  }

  private static void write(WireWriter out, ActiveLoad load) throws IOException {
    out.beginMap(5);
    out.key("worker_id");
    out.unsigned(load.rank().worker().value());
    out.key("dp_rank");
    out.integer(load.rank().rank());
    out.integerOrNil("active_decode_blocks", load.activeDecodeBlocks());
    out.integerOrNil("active_prefill_tokens", load.activePrefillTokens());
    out.integerOrNil("kv_used_blocks", load.kvUsedBlocks());
    out.endMap();
  }

  /**
   * Reads a whole payload; keys in any order, unknown ones are ignored.
   *
   * @throws IllegalArgumentException when it is not a load report
   */
  public static ActiveLoad decode(byte[] payload) {
    try {
      return WireReader.read(
          "load report", ByteBuffer.wrap(payload), PayloadFormat.MSGPACK, ActiveLoadCodec::read);
    } catch (InvalidRequestException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
  }

  private static ActiveLoad read(WireReader in) throws IOException {
    InstanceId worker = null;
    int rank = 0;
    Long decodeBlocks = null;
    Long prefillTokens = null;
    Long usedBlocks = null;
    in.beginMap();
    for (int key = in.nextKey(Field.KEYS); key != Keys.END; key = in.nextKey(Field.KEYS)) {
      switch (key) {
        case Field.WORKER_ID -> worker = new InstanceId(in.unsigned());
        case Field.DP_RANK -> rank = in.smallInteger();
        case Field.ACTIVE_DECODE_BLOCKS -> decodeBlocks = count(in);
        case Field.ACTIVE_PREFILL_TOKENS -> prefillTokens = count(in);
        case Field.KV_USED_BLOCKS -> usedBlocks = count(in);
        default -> in.skip();
      }
    }
    if (worker == null) {
      throw new IOException("a load report lacks worker_id");
    }
    return new ActiveLoad(new WorkerRank(worker, rank), decodeBlocks, prefillTokens, usedBlocks);
  }

  private static @Nullable Long count(WireReader in) throws IOException {
    return in.isNil() ? null : (Long) in.integer();
  }
}
