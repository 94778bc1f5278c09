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
  /** The positions of the names in {@link #KEYS}. */
  private static final class BatchField {
    static final int EVENTS = 0;
    static final Keys KEYS = new Keys(Keys.entry(EVENTS, "events"));
  }

  /** The positions of the names in {@link #KEYS}. */
  private static final class EventField {
    static final int REQUEST_ID = 0;
    static final int WORKER = 1;
    static final int DATA = 2;
    static final int ROUTER_ID = 3;
    static final int LORA_NAME = 4;
    static final Keys KEYS =
        new Keys(
            Keys.entry(REQUEST_ID, "request_id"),
            Keys.entry(WORKER, "worker"),
            Keys.entry(DATA, "data"),
            Keys.entry(ROUTER_ID, "router_id"),
            Keys.entry(LORA_NAME, "lora_name"));
  }

  /** The positions of the names in {@link #KEYS}. */
  private static final class WorkerField {
    static final int WORKER_ID = 0;
    static final int DP_RANK = 1;
    static final Keys KEYS =
        new Keys(Keys.entry(WORKER_ID, "worker_id"), Keys.entry(DP_RANK, "dp_rank"));
  }

  /** The positions of the names in {@link #KEYS}. */
  private static final class Mark {
    static final int MARK_PREFILL_COMPLETED = 0;
    static final int FREE = 1;
    static final Keys KEYS =
        new Keys(
            Keys.entry(MARK_PREFILL_COMPLETED, "MarkPrefillCompleted"), Keys.entry(FREE, "Free"));
  }

  /** The positions of the names in {@link #KEYS}. */
  private static final class DataField {
    static final int ADD_REQUEST = 0;
    static final Keys KEYS = new Keys(Keys.entry(ADD_REQUEST, "AddRequest"));
  }

  /** The positions of the names in {@link #KEYS}. */
  private static final class AddedField {
    static final int TOKEN_SEQUENCE = 0;
    static final int TRACK_PREFILL_TOKENS = 1;
    static final int EXPECTED_OUTPUT_TOKENS = 2;
    static final int PREFILL_LOAD_HINT = 3;
    static final Keys KEYS =
        new Keys(
            Keys.entry(TOKEN_SEQUENCE, "token_sequence"),
            Keys.entry(TRACK_PREFILL_TOKENS, "track_prefill_tokens"),
            Keys.entry(EXPECTED_OUTPUT_TOKENS, "expected_output_tokens"),
            Keys.entry(PREFILL_LOAD_HINT, "prefill_load_hint"));
  }

  /** The positions of the names in {@link #KEYS}. */
  private static final class HintField {
    static final int INITIAL_EFFECTIVE_PREFILL_TOKENS = 0;
    static final int EXPECTED_PREFILL_DURATION = 1;
    static final Keys KEYS =
        new Keys(
            Keys.entry(INITIAL_EFFECTIVE_PREFILL_TOKENS, "initial_effective_prefill_tokens"),
            Keys.entry(EXPECTED_PREFILL_DURATION, "expected_prefill_duration"));
  }

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
   * Reads a whole payload; keys in any order; unknown keys, and events of an unknown kind, are
   * skipped.
   *
   * @throws IllegalArgumentException when it is not a batch of events
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
    for (int key = in.nextKey(BatchField.KEYS);
        key != Keys.END;
        key = in.nextKey(BatchField.KEYS)) {
      if (key == BatchField.EVENTS) {
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
    for (int key = in.nextKey(EventField.KEYS);
        key != Keys.END;
        key = in.nextKey(EventField.KEYS)) {
      switch (key) {
        case EventField.REQUEST_ID -> id = in.string();
        case EventField.WORKER -> rank = readRank(in);
        case EventField.DATA -> data = readData(in);
        case EventField.ROUTER_ID -> teller = new InstanceId(in.unsigned());
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
      case Mark.MARK_PREFILL_COMPLETED -> new PrefillCompleted(id, rank, teller);
      case Mark.FREE -> new SequenceFreed(id, rank, teller);
      default -> null;
    };
  }

  private static WorkerRank readRank(WireReader in) throws IOException {
    InstanceId worker = null;
    int rank = 0;
    in.beginMap();
    for (int key = in.nextKey(WorkerField.KEYS);
        key != Keys.END;
        key = in.nextKey(WorkerField.KEYS)) {
      switch (key) {
        case WorkerField.WORKER_ID -> worker = new InstanceId(in.unsigned());
        case WorkerField.DP_RANK -> rank = in.smallInteger();
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
      return new Data(in.word(Mark.KEYS), null);
    }
    Added added = null;
    in.beginMap();
    for (int key = in.nextKey(DataField.KEYS); key != Keys.END; key = in.nextKey(DataField.KEYS)) {
      if (key == DataField.ADD_REQUEST) {
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
    for (int key = in.nextKey(AddedField.KEYS);
        key != Keys.END;
        key = in.nextKey(AddedField.KEYS)) {
      switch (key) {
        case AddedField.TOKEN_SEQUENCE -> prompt = in.isNil() ? prompt : readSequence(in);
        case AddedField.TRACK_PREFILL_TOKENS -> tracked = in.bool();
        case AddedField.PREFILL_LOAD_HINT -> tokens = in.isNil() ? 0 : readHint(in);
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
    for (int key = in.nextKey(HintField.KEYS); key != Keys.END; key = in.nextKey(HintField.KEYS)) {
      if (key == HintField.INITIAL_EFFECTIVE_PREFILL_TOKENS) {
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
