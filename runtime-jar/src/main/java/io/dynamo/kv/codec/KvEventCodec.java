package io.dynamo.kv.codec;

import io.dynamo.discovery.InstanceId;
import io.dynamo.kv.KvEvent;
import io.dynamo.kv.RankEvent;
import io.dynamo.kv.StoredBlock;
import io.dynamo.kv.WorkerRank;
import io.dynamo.token.BlockHash;
import io.dynamo.token.SequenceHash;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessageFormat;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessagePackException;
import org.msgpack.core.MessageUnpacker;
import org.msgpack.value.ValueType;

/**
 * The payload of the topic {@code kv-events}: a msgpack array of Dynamo's {@code RouterEvent} maps.
 * Writes the device tier and the worker's own blocks. Reads keys in any order, with unknown ones
 * among them. Stateless.
 *
 * <p>An event of another tier, of another owner or of a kind that came later changes nothing that a
 * {@link RankEvent} speaks of; it is read as a removal of no blocks, so that the ids of its rank
 * stay without a gap.
 */
public final class KvEventCodec {
  private static final String DEVICE = "device";
  private static final String WORKER = "worker";

  private KvEventCodec() {}

  public static byte[] encode(List<RankEvent> events) {
    try (var out = MessagePack.newDefaultBufferPacker()) {
      out.packArrayHeader(events.size());
      for (var event : events) {
        write(out, event);
      }
      return out.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException("a buffer in memory failed", e);
    }
  }

  private static void write(MessageBufferPacker out, RankEvent event) throws IOException {
    out.packMapHeader(4);
    out.packString("worker_id");
    unsigned(out, event.rank().worker().value());
    out.packString("storage_tier").packString(DEVICE);
    out.packString("residency_domain").packString(WORKER);
    out.packString("event").packMapHeader(3);
    out.packString("event_id");
    unsigned(out, event.event().id());
    out.packString("data");
    switch (event.event()) {
      case KvEvent.Stored stored -> write(out, stored);
      case KvEvent.Removed removed -> write(out, removed);
      case KvEvent.Cleared _ -> out.packString("cleared");
    }
    out.packString("dp_rank").packInt(event.rank().rank());
  }

  private static void write(MessageBufferPacker out, KvEvent.Stored stored) throws IOException {
    out.packMapHeader(1).packString("stored").packMapHeader(3);
    out.packString("parent_hash");
    if (stored.parent() == null) {
      out.packNil();
    } else {
      unsigned(out, stored.parent().value());
    }
    out.packString("start_position").packNil();
    out.packString("blocks").packArrayHeader(stored.blocks().size());
    for (var block : stored.blocks()) {
      out.packMapHeader(3).packString("block_hash");
      unsigned(out, block.hash().value());
      out.packString("tokens_hash");
      unsigned(out, block.content().value());
      out.packString("mm_extra_info").packNil();
    }
  }

  private static void write(MessageBufferPacker out, KvEvent.Removed removed) throws IOException {
    out.packMapHeader(1).packString("removed").packMapHeader(1);
    out.packString("block_hashes").packArrayHeader(removed.blocks().size());
    for (var block : removed.blocks()) {
      unsigned(out, block.value());
    }
  }

  private static void unsigned(MessageBufferPacker out, long value) throws IOException {
    if (value >= 0) {
      out.packLong(value);
    } else {
      out.packBigInteger(new BigInteger(Long.toUnsignedString(value)));
    }
  }

  /**
   * Reads a payload whole.
   *
   * @throws IllegalArgumentException when it is not an array of events
   */
  public static List<RankEvent> decode(byte[] payload) {
    try (var in = MessagePack.newDefaultUnpacker(payload)) {
      int count = arrayHeader(in, payload.length);
      var events = new ArrayList<RankEvent>(count);
      for (int i = 0; i < count; i++) {
        events.add(new Reader(in, payload.length).event());
      }
      if (in.hasNext()) {
        throw new IllegalArgumentException("kv event payload has bytes after its end");
      }
      return List.copyOf(events);
    } catch (IOException | MessagePackException e) {
      throw new IllegalArgumentException("kv event payload is damaged: " + e.getMessage(), e);
    }
  }

  /** The length of an array whose elements take a byte each at least. */
  private static int arrayHeader(MessageUnpacker in, int payloadBytes) throws IOException {
    int count = in.unpackArrayHeader();
    if (count < 0 || count > payloadBytes - in.getTotalReadBytes()) {
      throw new IllegalArgumentException(
          "kv event payload of %d bytes claims an array of %s elements"
              .formatted(payloadBytes, Integer.toUnsignedString(count)));
    }
    return count;
  }

  private static boolean nil(MessageUnpacker in) throws IOException {
    return in.getNextFormat().getValueType() == ValueType.NIL;
  }

  private static long unsigned(MessageUnpacker in) throws IOException {
    if (in.getNextFormat() == MessageFormat.UINT64) {
      return in.unpackBigInteger().longValue();
    }
    long value = in.unpackLong();
    if (value < 0) {
      throw new IllegalArgumentException("kv event payload has the negative number " + value);
    }
    return value;
  }

  /** Gathers one event, whatever the order of its members. */
  private static final class Reader {
    private final MessageUnpacker in;
    private final int payloadBytes;
    private @Nullable Long worker;
    private @Nullable Long id;
    private int rank;
    private String tier = DEVICE;
    private String domain = WORKER;
    private @Nullable String kind;
    private @Nullable SequenceHash parent;
    private List<StoredBlock> stored = List.of();
    private List<SequenceHash> removed = List.of();

    Reader(MessageUnpacker in, int payloadBytes) {
      this.in = in;
      this.payloadBytes = payloadBytes;
    }

    RankEvent event() throws IOException {
      for (int left = in.unpackMapHeader(); left > 0; left--) {
        switch (in.unpackString()) {
          case "worker_id" -> worker = unsigned(in);
          case "storage_tier" -> tier = in.unpackString();
          case "residency_domain" -> domain = nil(in) ? skip("null") : in.unpackString();
          case "event" -> change();
          default -> in.skipValue();
        }
      }
      if (worker == null || id == null || kind == null) {
        throw new IllegalArgumentException(
            "kv event payload lacks worker_id, event_id or data in one of its events");
      }
      return new RankEvent(new WorkerRank(new InstanceId(worker), rank), change(id, kind));
    }

    private String skip(String standIn) throws IOException {
      in.skipValue();
      return standIn;
    }

    private KvEvent change(long eventId, String what) {
      if (!tier.equals(DEVICE) || !domain.equals(WORKER)) {
        return new KvEvent.Removed(eventId, List.of());
      }
      return switch (what) {
        case "stored" -> new KvEvent.Stored(eventId, parent, stored);
        case "removed" -> new KvEvent.Removed(eventId, removed);
        case "cleared" -> new KvEvent.Cleared(eventId);
        default -> new KvEvent.Removed(eventId, List.of());
      };
    }

    private void change() throws IOException {
      for (int left = in.unpackMapHeader(); left > 0; left--) {
        switch (in.unpackString()) {
          case "event_id" -> id = unsigned(in);
          case "dp_rank" -> rank = in.unpackInt();
          case "data" -> data();
          default -> in.skipValue();
        }
      }
    }

    private void data() throws IOException {
      if (in.getNextFormat().getValueType() == ValueType.STRING) {
        kind = in.unpackString();
        return;
      }
      if (in.unpackMapHeader() != 1) {
        throw new IllegalArgumentException("kv event payload has data that is not one change");
      }
      kind = in.unpackString();
      switch (kind) {
        case "stored" -> stored();
        case "removed" -> removed();
        default -> in.skipValue();
      }
    }

    private void stored() throws IOException {
      for (int left = in.unpackMapHeader(); left > 0; left--) {
        switch (in.unpackString()) {
          case "parent_hash" -> {
            if (nil(in)) {
              in.unpackNil();
            } else {
              parent = new SequenceHash(unsigned(in));
            }
          }
          case "blocks" -> {
            int count = arrayHeader(in, payloadBytes);
            var blocks = new ArrayList<StoredBlock>(count);
            for (int i = 0; i < count; i++) {
              blocks.add(block());
            }
            stored = blocks;
          }
          default -> in.skipValue();
        }
      }
    }

    private StoredBlock block() throws IOException {
      Long hash = null;
      Long content = null;
      for (int left = in.unpackMapHeader(); left > 0; left--) {
        switch (in.unpackString()) {
          case "block_hash" -> hash = unsigned(in);
          case "tokens_hash" -> content = unsigned(in);
          default -> in.skipValue();
        }
      }
      if (hash == null || content == null) {
        throw new IllegalArgumentException("kv event payload has a block without its hashes");
      }
      return new StoredBlock(new SequenceHash(hash), new BlockHash(content));
    }

    private void removed() throws IOException {
      for (int left = in.unpackMapHeader(); left > 0; left--) {
        if (in.unpackString().equals("block_hashes")) {
          int count = arrayHeader(in, payloadBytes);
          var blocks = new ArrayList<SequenceHash>(count);
          for (int i = 0; i < count; i++) {
            blocks.add(new SequenceHash(unsigned(in)));
          }
          removed = blocks;
        } else {
          in.skipValue();
        }
      }
    }
  }
}
