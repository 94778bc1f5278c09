package io.dynamo.wire.kv;

import io.dynamo.discovery.InstanceId;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.kv.PrefillCompleted;
import io.dynamo.kv.SequenceAdded;
import io.dynamo.kv.SequenceEvent;
import io.dynamo.kv.SequenceFreed;
import io.dynamo.kv.WorkerRank;
import io.dynamo.net.PayloadFormat;
import io.dynamo.token.BlockHashes;
import io.dynamo.wire.Keys;
import io.dynamo.wire.WireReader;
import io.dynamo.wire.WireWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A payload of the topic {@code active_sequences_events}: a batch of Dynamo's {@code
 * ActiveSequenceEvent} maps. Stateless.
 */
public final class SequenceEventCodec {
  private static final Keys BATCH = new Keys("events");
  private static final Keys EVENT =
      new Keys("request_id", "worker", "data", "router_id", "lora_name");
  private static final Keys WORKER = new Keys("worker_id", "dp_rank");
  private static final Keys WORDS = new Keys("MarkPrefillCompleted", "Free");
  private static final Keys DATA = new Keys("AddRequest");
  private static final Keys ADDED =
      new Keys(
          "token_sequence", "track_prefill_tokens", "expected_output_tokens", "prefill_load_hint");
  private static final Keys HINT =
      new Keys("initial_effective_prefill_tokens", "expected_prefill_duration");

  private static final int PREFILLED = 0;
  private static final int FREED = 1;

  /** The {@code data} of an event: one of the words above, or an added request. */
  private record Data(int word, @Nullable Added added) {}

  private record Added(BlockHashes prompt, long tokensToPrefill) {}

  private SequenceEventCodec() {}

  public static byte[] encode(List<? extends SequenceEvent> events) {
    return WireWriter.write(events, PayloadFormat.MSGPACK, SequenceEventCodec::write);
  }

  private static void write(WireWriter out, List<? extends SequenceEvent> events)
      throws IOException {
    out.beginMap(1);
    out.key("events");
    out.beginArray(events.size());
    for (var event : events) {
      out.beginMap(5);
      out.key("request_id");
      out.string(event.requestId());
      out.key("worker");
      out.beginMap(2);
      out.key("worker_id");
      out.unsigned(event.rank().worker().value());
      out.key("dp_rank");
      out.integer(event.rank().rank());
      out.endMap();
      out.key("data");
      switch (event) {
        case SequenceAdded added -> writeAdded(out, added);
        case PrefillCompleted _ -> out.string("MarkPrefillCompleted");
        case SequenceFreed _ -> out.string("Free");
      }
      out.key("router_id");
      out.unsigned(event.teller().value());
      out.nil("lora_name");
      out.endMap();
    }
    out.endArray();
    out.endMap();
  }

  private static void writeAdded(WireWriter out, SequenceAdded added) throws IOException {
    out.beginMap(1);
    out.key("AddRequest");
    out.beginMap(4);
    out.key("token_sequence");
    int blocks = added.prompt().length();
    out.beginArray(blocks);
    for (int i = 0; i < blocks; i++) {
      out.unsigned(added.prompt().sequence(i));
    }
    out.endArray();
    out.key("track_prefill_tokens");
    out.bool(true);
    out.nil("expected_output_tokens");
    out.key("prefill_load_hint");
    out.beginMap(2);
    out.key("initial_effective_prefill_tokens");
    out.integer(added.tokensToPrefill());
    out.nil("expected_prefill_duration");
    out.endMap();
    out.endMap();
    out.endMap();
  }

  /**
   * Reads a payload whole; keys in any order, those that we do not know are passed over, and so are
   * events of a kind that we do not know.
   *
   * @throws IllegalArgumentException when it is no batch of events
   */
  public static List<SequenceEvent> decode(byte[] payload) {
    try {
      return WireReader.read(
          "sequence events",
          ByteBuffer.wrap(payload),
          PayloadFormat.MSGPACK,
          SequenceEventCodec::read);
    } catch (InvalidRequestException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
  }

  private static List<SequenceEvent> read(WireReader in) throws IOException {
    List<SequenceEvent> events = null;
    in.beginMap();
    for (int key = in.nextKey(BATCH); key != Keys.END; key = in.nextKey(BATCH)) {
      if (key == 0) {
        events = new ArrayList<>();
        in.beginArray();
        while (in.nextElement()) {
          var event = readEvent(in);
          if (event != null) {
            events.add(event);
          }
        }
      } else {
        in.skip();
      }
    }
    if (events == null) {
      throw new IOException("sequence events lack events");
    }
    return events;
  }

  private static @Nullable SequenceEvent readEvent(WireReader in) throws IOException {
    String id = null;
    WorkerRank rank = null;
    Data data = null;
    InstanceId teller = null;
    in.beginMap();
    for (int key = in.nextKey(EVENT); key != Keys.END; key = in.nextKey(EVENT)) {
      switch (key) {
        case 0 -> id = in.string();
        case 1 -> rank = readRank(in);
        case 2 -> data = readData(in);
        case 3 -> teller = new InstanceId(in.unsigned());
        default -> in.skip();
      }
    }
    if (id == null || rank == null || data == null || teller == null) {
      throw new IOException("a sequence event lacks request_id, worker, data or router_id");
    }
    var added = data.added;
    if (added != null) {
      return new SequenceAdded(id, rank, teller, added.prompt, added.tokensToPrefill);
    }
    return switch (data.word) {
      case PREFILLED -> new PrefillCompleted(id, rank, teller);
      case FREED -> new SequenceFreed(id, rank, teller);
      default -> null;
    };
  }

  private static WorkerRank readRank(WireReader in) throws IOException {
    InstanceId worker = null;
    int rank = 0;
    in.beginMap();
    for (int key = in.nextKey(WORKER); key != Keys.END; key = in.nextKey(WORKER)) {
      switch (key) {
        case 0 -> worker = new InstanceId(in.unsigned());
        case 1 -> rank = in.smallInteger();
        default -> in.skip();
      }
    }
    if (worker == null) {
      throw new IOException("a worker lacks worker_id");
    }
    return new WorkerRank(worker, rank);
  }

  private static Data readData(WireReader in) throws IOException {
    if (!in.isMap()) {
      return new Data(in.word(WORDS), null);
    }
    Added added = null;
    in.beginMap();
    for (int key = in.nextKey(DATA); key != Keys.END; key = in.nextKey(DATA)) {
      if (key == 0) {
        added = readAdded(in);
      } else {
        in.skip();
      }
    }
    return new Data(Keys.UNKNOWN, added);
  }

  private static Added readAdded(WireReader in) throws IOException {
    var prompt = BlockHashes.ofSequences();
    boolean tracked = true;
    long tokens = 0;
    in.beginMap();
    for (int key = in.nextKey(ADDED); key != Keys.END; key = in.nextKey(ADDED)) {
      switch (key) {
        case 0 -> prompt = in.isNil() ? prompt : readSequence(in);
        case 1 -> tracked = in.bool();
        case 3 -> tokens = in.isNil() ? 0 : readHint(in);
        default -> in.skip();
      }
    }
    return new Added(prompt, tracked ? tokens : 0);
  }

  private static BlockHashes readSequence(WireReader in) throws IOException {
    var hashes = new long[16];
    int count = 0;
    in.beginArray();
    while (in.nextElement()) {
      if (count == hashes.length) {
        hashes = Arrays.copyOf(hashes, 2 * count);
      }
      hashes[count++] = in.unsigned();
    }
    return BlockHashes.ofSequences(Arrays.copyOf(hashes, count));
  }

  private static long readHint(WireReader in) throws IOException {
    long tokens = 0;
    in.beginMap();
    for (int key = in.nextKey(HINT); key != Keys.END; key = in.nextKey(HINT)) {
      if (key == 0) {
        tokens = in.integer();
      } else {
        in.skip();
      }
    }
    if (tokens < 0 || tokens > Integer.MAX_VALUE) { // sums of them must not overflow
      throw new IOException("a prefill of " + tokens + " tokens");
    }
    return tokens;
  }
}
