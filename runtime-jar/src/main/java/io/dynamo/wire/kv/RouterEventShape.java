package io.dynamo.wire.kv;

import io.dynamo.discovery.InstanceId;
import io.dynamo.kv.KvEvent;
import io.dynamo.kv.RankEvent;
import io.dynamo.kv.Residency;
import io.dynamo.kv.StorageTier;
import io.dynamo.kv.StoredBlock;
import io.dynamo.kv.WorkerRank;
import io.dynamo.token.BlockHash;
import io.dynamo.token.SequenceHash;
import io.dynamo.wire.Keys;
import io.dynamo.wire.WireReader;
import io.dynamo.wire.WireWriter;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes Dynamo's {@code RouterEvent} as a map. Reading accepts keys in any order and
 * skips those that our records do not have: unknown keys, {@code start_position}, {@code
 * mm_extra_info} (a block's {@code tokens_hash} covers it) and {@code state_source}.
 *
 * <p>An event of a tier or of a kind added in a later version changes nothing here; it is read as a
 * removal of no blocks, so that the ids of its rank have no gap.
 */
final class RouterEventShape {
  /** The positions of the names in {@link #KEYS}. */
  private static final class EventField {
    static final int WORKER_ID = 0;
    static final int STORAGE_TIER = 1;
    static final int RESIDENCY_DOMAIN = 2;
    static final int EVENT = 3;
    static final int SESSION_ID = 4;
    static final Keys KEYS =
        new Keys(
            Keys.entry(WORKER_ID, "worker_id"),
            Keys.entry(STORAGE_TIER, "storage_tier"),
            Keys.entry(RESIDENCY_DOMAIN, "residency_domain"),
            Keys.entry(EVENT, "event"),
            Keys.entry(SESSION_ID, "session_id"));
  }

  /** The positions of the names in {@link #KEYS}. */
  private static final class ChangeField {
    static final int EVENT_ID = 0;
    static final int DATA = 1;
    static final int DP_RANK = 2;
    static final Keys KEYS =
        new Keys(
            Keys.entry(EVENT_ID, "event_id"),
            Keys.entry(DATA, "data"),
            Keys.entry(DP_RANK, "dp_rank"));
  }

  /** The positions of the names in {@link #KEYS}. */
  private static final class ChangeKind {
    static final int STORED = 0;
    static final int REMOVED = 1;
    static final Keys KEYS = new Keys(Keys.entry(STORED, "stored"), Keys.entry(REMOVED, "removed"));
  }

  /** The positions of the names in {@link #KEYS}. */
  private static final class StoredField {
    static final int PARENT_HASH = 0;
    static final int START_POSITION = 1;
    static final int BLOCKS = 2;
    static final Keys KEYS =
        new Keys(
            Keys.entry(PARENT_HASH, "parent_hash"),
            Keys.entry(START_POSITION, "start_position"),
            Keys.entry(BLOCKS, "blocks"));
  }

  /** The positions of the names in {@link #KEYS}. */
  private static final class BlockField {
    static final int BLOCK_HASH = 0;
    static final int TOKENS_HASH = 1;
    static final int MM_EXTRA_INFO = 2;
    static final Keys KEYS =
        new Keys(
            Keys.entry(BLOCK_HASH, "block_hash"),
            Keys.entry(TOKENS_HASH, "tokens_hash"),
            Keys.entry(MM_EXTRA_INFO, "mm_extra_info"));
  }

  /** The positions of the names in {@link #KEYS}. */
  private static final class RemovedField {
    static final int BLOCK_HASHES = 0;
    static final Keys KEYS = new Keys(Keys.entry(BLOCK_HASHES, "block_hashes"));
  }

  private RouterEventShape() {}

  static void writeAll(WireWriter out, List<RankEvent> events) throws IOException {
    out.beginArray(events.size());
    for (var event : events) {
      write(out, event);
    }
    out.endArray();
  }

  private static void write(WireWriter out, RankEvent event) throws IOException {
    boolean everyDomain = event.residency() == Residency.ALL;
    var session = event.sessionId();
    out.beginMap(4 - (everyDomain ? 1 : 0) + (session == null ? 0 : 1));
    out.key("worker_id");
    out.unsigned(event.rank().worker().value());
    out.key("storage_tier");
    out.string(nameOf(event.tier()));
    if (!everyDomain) {
      out.key("residency_domain");
      out.string(nameOf(event.residency()));
    }
    out.key("event");
    out.beginMap(3);
    out.key("event_id");
    out.unsigned(event.event().id());
    out.key("data");
    switch (event.event()) {
      case KvEvent.Stored stored -> write(out, stored);
      case KvEvent.Removed removed -> write(out, removed);
      case KvEvent.Cleared _ -> out.string("cleared");
    }
    out.key("dp_rank");
    out.integer(event.rank().rank());
    out.endMap();
    if (session != null) {
      out.key("session_id");
      out.string(session);
    }
    out.endMap();
  }

  private static String nameOf(StorageTier tier) {
    return switch (tier) {
      case DEVICE -> "device";
      case HOST_PINNED -> "host_pinned";
      case DISK -> "disk";
      case EXTERNAL -> "external";
    };
  }

  private static String nameOf(Residency residency) {
    return switch (residency) {
      case WORKER -> "worker";
      case CACHE_OWNER -> "cache_owner";
      case ALL, UNSUPPORTED ->
          throw new IllegalArgumentException("residency " + residency + " has no name");
    };
  }

  private static void write(WireWriter out, KvEvent.Stored stored) throws IOException {
    out.beginMap(1);
    out.key("stored");
    out.beginMap(3);
    out.key("parent_hash");
    if (stored.parent() == null) {
      out.nil();
    } else {
      out.unsigned(stored.parent().value());
    }
    out.nil("start_position");
    out.key("blocks");
    out.beginArray(stored.blocks().size());
    for (var block : stored.blocks()) {
      out.beginMap(3);
      out.key("block_hash");
      out.unsigned(block.hash().value());
      out.key("tokens_hash");
      out.unsigned(block.content().value());
      out.nil("mm_extra_info");
      out.endMap();
    }
    out.endArray();
    out.endMap();
    out.endMap();
  }

  private static void write(WireWriter out, KvEvent.Removed removed) throws IOException {
    out.beginMap(1);
    out.key("removed");
    out.beginMap(1);
    out.key("block_hashes");
    out.beginArray(removed.blocks().size());
    for (var block : removed.blocks()) {
      out.unsigned(block.value());
    }
    out.endArray();
    out.endMap();
    out.endMap();
  }

  static List<RankEvent> readAll(WireReader in) throws IOException {
    var events = new ArrayList<RankEvent>();
    in.beginArray();
    while (in.nextElement()) {
      events.add(new Reading(in).event());
    }
    return events;
  }

  /** Collects one event, in any order of its members. */
  private static final class Reading {
    private final WireReader in;
    private @Nullable InstanceId worker;
    private boolean numbered;
    private long id;
    private int rank;
    private @Nullable StorageTier tier = StorageTier.DEVICE;
    private @Nullable Residency residency; // null: absent
    private @Nullable String sessionId;
    private boolean hasData;
    private @Nullable Kind kind; // null: unknown to this version
    private @Nullable SequenceHash parent;
    private List<StoredBlock> stored = List.of();
    private List<SequenceHash> removed = List.of();

    private enum Kind {
      STORED,
      REMOVED,
      CLEARED
    }

    Reading(WireReader in) {
      this.in = in;
    }

    RankEvent event() throws IOException {
      in.beginMap();
      for (int key = in.nextKey(EventField.KEYS);
          key != Keys.END;
          key = in.nextKey(EventField.KEYS)) {
        switch (key) {
          case EventField.WORKER_ID -> worker = new InstanceId(in.unsigned());
          case EventField.STORAGE_TIER -> tier = tierOf(in.string());
          case EventField.RESIDENCY_DOMAIN ->
              residency = in.isNil() ? Residency.UNSUPPORTED : residencyOf(in.string());
          case EventField.EVENT -> change();
          case EventField.SESSION_ID -> sessionId = in.isNil() ? null : in.string();
          default -> in.skip();
        }
      }
      if (worker == null || !numbered || !hasData) {
        throw new IOException("an event lacks worker_id, event_id or data");
      }
      var of = new WorkerRank(worker, rank);
      if (tier == null || kind == null) {
        return new RankEvent(of, new KvEvent.Removed(id, List.of()));
      }
      return new RankEvent(of, tier, residency(kind), event(kind), sessionId);
    }

    private Residency residency(Kind of) {
      if (residency != null) {
        return residency;
      }
      return of == Kind.CLEARED ? Residency.ALL : Residency.WORKER;
    }

    private KvEvent event(Kind of) {
      return switch (of) {
        case STORED -> new KvEvent.Stored(id, parent, stored);
        case REMOVED -> new KvEvent.Removed(id, removed);
        case CLEARED -> new KvEvent.Cleared(id);
      };
    }

    private static @Nullable StorageTier tierOf(String name) {
      return switch (name) {
        case "device" -> StorageTier.DEVICE;
        case "host_pinned" -> StorageTier.HOST_PINNED;
        case "disk" -> StorageTier.DISK;
        case "external" -> StorageTier.EXTERNAL;
        default -> null;
      };
    }

    private static Residency residencyOf(String name) {
      return switch (name) {
        case "worker" -> Residency.WORKER;
        case "cache_owner" -> Residency.CACHE_OWNER;
        default -> Residency.UNSUPPORTED;
      };
    }

    private void change() throws IOException {
      in.beginMap();
      for (int key = in.nextKey(ChangeField.KEYS);
          key != Keys.END;
          key = in.nextKey(ChangeField.KEYS)) {
        switch (key) {
          case ChangeField.EVENT_ID -> {
            id = in.unsigned();
            numbered = true;
          }
          case ChangeField.DATA -> data();
          case ChangeField.DP_RANK -> rank = in.smallInteger();
          default -> in.skip();
        }
      }
    }

    private void data() throws IOException {
      hasData = true;
      if (!in.isMap()) {
        kind = in.string().equals("cleared") ? Kind.CLEARED : null;
        return;
      }
      in.beginMap();
      int changes = 0;
      for (int key = in.nextKey(ChangeKind.KEYS);
          key != Keys.END;
          key = in.nextKey(ChangeKind.KEYS)) {
        changes++;
        switch (key) {
          case ChangeKind.STORED -> stored();
          case ChangeKind.REMOVED -> removed();
          default -> in.skip();
        }
      }
      if (changes != 1) {
        throw new IOException("an event has data that is not one change");
      }
    }

    private void stored() throws IOException {
      kind = Kind.STORED;
      in.beginMap();
      for (int key = in.nextKey(StoredField.KEYS);
          key != Keys.END;
          key = in.nextKey(StoredField.KEYS)) {
        switch (key) {
          case StoredField.PARENT_HASH ->
              parent = in.isNil() ? null : new SequenceHash(in.unsigned());
          case StoredField.BLOCKS -> {
            var blocks = new ArrayList<StoredBlock>();
            in.beginArray();
            while (in.nextElement()) {
              blocks.add(block());
            }
            stored = blocks;
          }
          default -> in.skip();
        }
      }
    }

    private StoredBlock block() throws IOException {
      SequenceHash hash = null;
      BlockHash content = null;
      in.beginMap();
      for (int key = in.nextKey(BlockField.KEYS);
          key != Keys.END;
          key = in.nextKey(BlockField.KEYS)) {
        switch (key) {
          case BlockField.BLOCK_HASH -> hash = new SequenceHash(in.unsigned());
          case BlockField.TOKENS_HASH -> content = new BlockHash(in.unsigned());
          default -> in.skip();
        }
      }
      if (hash == null || content == null) {
        throw new IOException("a block lacks block_hash or tokens_hash");
      }
      return new StoredBlock(hash, content);
    }

    private void removed() throws IOException {
      kind = Kind.REMOVED;
      in.beginMap();
      for (int key = in.nextKey(RemovedField.KEYS);
          key != Keys.END;
          key = in.nextKey(RemovedField.KEYS)) {
        if (key == RemovedField.BLOCK_HASHES) {
          var blocks = new ArrayList<SequenceHash>();
          in.beginArray();
          while (in.nextElement()) {
            blocks.add(new SequenceHash(in.unsigned()));
          }
          removed = blocks;
        } else {
          in.skip();
        }
      }
    }
  }
}
