package io.dynamo.wire.kv;

import io.dynamo.discovery.InstanceId;
import io.dynamo.kv.KvQuery;
import io.dynamo.kv.KvReply;
import io.dynamo.kv.RankEvent;
import io.dynamo.kv.WorkerRank;
import io.dynamo.net.PayloadFormat;
import io.dynamo.wire.ItemForm;
import io.dynamo.wire.Keys;
import io.dynamo.wire.MessageCodec;
import io.dynamo.wire.WireReader;
import io.dynamo.wire.WireWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The messages of the recovery endpoint: {@code WorkerKvQueryRequest} out, {@code
 * WorkerKvQueryResponse} back as one plain item. Stateless.
 */
public final class KvQueryCodec implements MessageCodec<KvQuery, KvReply> {
  private static final String RECOVERY = "recovery";

  /** The positions of the names in {@link #KEYS}. */
  private static final class QueryField {
    static final int WORKER_ID = 0;
    static final int DP_RANK = 1;
    static final int START_EVENT_ID = 2;
    static final int END_EVENT_ID = 3;
    static final int SUPPORTS_TREE_DUMP_FAILED = 4;
    static final int KIND = 5;
    static final Keys KEYS =
        new Keys(
            Keys.entry(WORKER_ID, "worker_id"),
            Keys.entry(DP_RANK, "dp_rank"),
            Keys.entry(START_EVENT_ID, "start_event_id"),
            Keys.entry(END_EVENT_ID, "end_event_id"),
            Keys.entry(SUPPORTS_TREE_DUMP_FAILED, "supports_tree_dump_failed"),
            Keys.entry(KIND, "kind"));
  }

  /** The positions of the names in {@link #KEYS}. */
  private static final class ReplyKind {
    static final int EVENTS = 0;
    static final int TREE_DUMP = 1;
    static final int TREE_DUMP_FAILED = 2;
    static final int TOO_NEW = 3;
    static final int INVALID_RANGE = 4;
    static final int ERROR = 5;
    static final Keys KEYS =
        new Keys(
            Keys.entry(EVENTS, "Events"),
            Keys.entry(TREE_DUMP, "TreeDump"),
            Keys.entry(TREE_DUMP_FAILED, "TreeDumpFailed"),
            Keys.entry(TOO_NEW, "TooNew"),
            Keys.entry(INVALID_RANGE, "InvalidRange"),
            Keys.entry(ERROR, "Error"));
  }

  /** The positions of the names in {@link #KEYS}. */
  private static final class ReplyField {
    static final int EVENTS = 0;
    static final int LAST_EVENT_ID = 1;
    static final int MESSAGE = 2;
    static final int REQUESTED_START = 3;
    static final int REQUESTED_END = 4;
    static final int NEWEST_AVAILABLE = 5;
    static final int START_ID = 6;
    static final int END_ID = 7;
    static final Keys KEYS =
        new Keys(
            Keys.entry(EVENTS, "events"),
            Keys.entry(LAST_EVENT_ID, "last_event_id"),
            Keys.entry(MESSAGE, "message"),
            Keys.entry(REQUESTED_START, "requested_start"),
            Keys.entry(REQUESTED_END, "requested_end"),
            Keys.entry(NEWEST_AVAILABLE, "newest_available"),
            Keys.entry(START_ID, "start_id"),
            Keys.entry(END_ID, "end_id"));
  }

  @Override
  public ItemForm itemForm() {
    return ItemForm.PLAIN;
  }

  @Override
  public byte[] encodeRequest(KvQuery request, PayloadFormat format) {
    return WireWriter.write(request, format, KvQueryCodec::write);
  }

  @Override
  public KvQuery decodeRequest(ByteBuffer body, PayloadFormat format) {
    return WireReader.read("KV query", body, format, KvQueryCodec::readQuery);
  }

  @Override
  public byte[] encodeItem(KvReply item, PayloadFormat format) {
    return WireWriter.write(item, format, KvQueryCodec::write);
  }

  @Override
  public KvReply decodeItem(ByteBuffer body, PayloadFormat format) {
    return WireReader.read("KV reply", body, format, KvQueryCodec::readReply);
  }

  private static void write(WireWriter out, KvQuery query) throws IOException {
    out.beginMap(6);
    unsigned(out, "worker_id", query.rank().worker().value());
    out.key("dp_rank");
    out.integer(query.rank().rank());
    idOrNil(out, "start_event_id", query.startId());
    idOrNil(out, "end_event_id", query.endId());
    out.key("supports_tree_dump_failed");
    out.bool(query.takesDumpFailed());
    out.key("kind");
    out.string(RECOVERY);
    out.endMap();
  }

  private static void idOrNil(WireWriter out, String name, @Nullable Long id) throws IOException {
    if (id == null) {
      out.nil(name);
    } else {
      unsigned(out, name, id);
    }
  }

  private static void unsigned(WireWriter out, String name, long value) throws IOException {
    out.key(name);
    out.unsigned(value);
  }

  private static KvQuery readQuery(WireReader in) throws IOException {
    InstanceId worker = null;
    Integer rank = null;
    Long start = null;
    Long end = null;
    boolean takesDumpFailed = false;
    in.beginMap();
    for (int key = in.nextKey(QueryField.KEYS);
        key != Keys.END;
        key = in.nextKey(QueryField.KEYS)) {
      switch (key) {
        case QueryField.WORKER_ID -> worker = new InstanceId(in.unsigned());
        case QueryField.DP_RANK -> rank = in.smallInteger();
        case QueryField.START_EVENT_ID -> start = in.isNil() ? null : in.unsigned();
        case QueryField.END_EVENT_ID -> end = in.isNil() ? null : in.unsigned();
        case QueryField.SUPPORTS_TREE_DUMP_FAILED -> takesDumpFailed = in.bool();
        case QueryField.KIND -> {
          var kind = in.string();
          if (!kind.equals(RECOVERY)) {
            throw new IOException("kind \"" + kind + "\" is not answered here");
          }
        }
        default -> in.skip();
      }
    }
    if (worker == null || rank == null) {
      throw new IOException("worker_id or dp_rank is missing");
    }
    return new KvQuery(new WorkerRank(worker, rank), start, end, takesDumpFailed);
  }

  private static void write(WireWriter out, KvReply reply) throws IOException {
    out.beginMap(1);
    switch (reply) {
      case KvReply.Events it -> {
        out.key("Events");
        out.beginMap(2);
        events(out, it.events(), it.lastId());
        out.endMap();
      }
      case KvReply.TreeDump it -> {
        out.key("TreeDump");
        out.beginMap(3);
        events(out, it.events(), it.lastId());
        out.key("reset_scope");
        out.string("all");
        out.endMap();
      }
      case KvReply.TreeDumpFailed it -> {
        out.key("TreeDumpFailed");
        out.beginMap(2);
        unsigned(out, "last_event_id", it.lastId());
        out.key("message");
        out.string(it.message());
        out.endMap();
      }
      case KvReply.TooNew it -> {
        out.key("TooNew");
        out.beginMap(3);
        unsigned(out, "requested_start", it.requestedStart());
        unsigned(out, "requested_end", it.requestedEnd());
        unsigned(out, "newest_available", it.newestId());
        out.endMap();
      }
      case KvReply.InvalidRange it -> {
        out.key("InvalidRange");
        out.beginMap(2);
        unsigned(out, "start_id", it.startId());
        unsigned(out, "end_id", it.endId());
        out.endMap();
      }
      case KvReply.Refused it -> {
        out.key("Error");
        out.string(it.message());
      }
    }
    out.endMap();
  }

  private static void events(WireWriter out, List<RankEvent> events, long lastId)
      throws IOException {
    out.key("events");
    RouterEventShape.writeAll(out, events);
    unsigned(out, "last_event_id", lastId);
  }

  private static KvReply readReply(WireReader in) throws IOException {
    KvReply reply = null;
    int replies = 0;
    in.beginMap();
    for (int key = in.nextKey(ReplyKind.KEYS); key != Keys.END; key = in.nextKey(ReplyKind.KEYS)) {
      replies++;
      if (key == Keys.UNKNOWN) {
        in.skip();
      } else if (key == ReplyKind.ERROR) {
        reply = new KvReply.Refused(in.string());
      } else {
        reply = new Reading().reply(in, key);
      }
    }
    if (reply == null || replies != 1) {
      throw new IOException("it is not one reply of a known kind");
    }
    return reply;
  }

  /** The members of any reply that is a map. */
  private static final class Reading {
    @Nullable List<RankEvent> events;
    @Nullable Long lastId;
    @Nullable Long requestedStart;
    @Nullable Long requestedEnd;
    @Nullable Long newest;
    @Nullable Long start;
    @Nullable Long end;
    String message = "";

    KvReply reply(WireReader in, int kind) throws IOException {
      in.beginMap();
      for (int key = in.nextKey(ReplyField.KEYS);
          key != Keys.END;
          key = in.nextKey(ReplyField.KEYS)) {
        if (key == Keys.UNKNOWN) {
          in.skip();
        } else if (!in.isNil()) {
          switch (key) {
            case ReplyField.EVENTS -> events = RouterEventShape.readAll(in);
            case ReplyField.LAST_EVENT_ID -> lastId = in.unsigned();
            case ReplyField.MESSAGE -> message = in.string();
            case ReplyField.REQUESTED_START -> requestedStart = in.unsigned();
            case ReplyField.REQUESTED_END -> requestedEnd = in.unsigned();
            case ReplyField.NEWEST_AVAILABLE -> newest = in.unsigned();
            case ReplyField.START_ID -> start = in.unsigned();
            case ReplyField.END_ID -> end = in.unsigned();
            default -> throw new IllegalStateException("key " + key);
          }
        }
      }
      return switch (kind) {
        case ReplyKind.EVENTS -> new KvReply.Events(required(events), required(lastId));
        case ReplyKind.TREE_DUMP -> new KvReply.TreeDump(required(events), required(lastId));
        case ReplyKind.TREE_DUMP_FAILED -> new KvReply.TreeDumpFailed(required(lastId), message);
        case ReplyKind.TOO_NEW -> {
          long newestId = required(newest);
          yield new KvReply.TooNew(
              required(requestedStart), requestedEnd == null ? newestId : requestedEnd, newestId);
        }
        case ReplyKind.INVALID_RANGE -> new KvReply.InvalidRange(required(start), required(end));
        default -> throw new IllegalStateException("kind " + kind);
      };
    }

    private static <T> T required(@Nullable T value) throws IOException {
      if (value == null) {
        throw new IOException("a member of the reply is missing");
      }
      return value;
    }
  }
}
