package io.dynamo.wire.kv;

import io.dynamo.kv.EngineKvEvent;
import io.dynamo.wire.Keys;
import io.dynamo.wire.WireReader;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads the KV events that vLLM and SGLang publish: {@code [time, [event, …], rank]} in msgpack,
 * each event an array in a fixed order or a map, by the engine's version. Events of other kinds are
 * skipped. Stateless.
 */
public final class EngineEventCodec {
  /**
   * The positions of the names in {@link #KEYS}, which is the order of an event that is an array.
   */
  private static final class StoredField {
    static final int TYPE = 0;
    static final int BLOCK_HASHES = 1;
    static final int PARENT_BLOCK_HASH = 2;
    static final int TOKEN_IDS = 3;
    static final int BLOCK_SIZE = 4;
    static final int LORA_ID = 5;
    static final int MEDIUM = 6;
    static final int LORA_NAME = 7;
    static final int EXTRA_KEYS = 8;
    static final int BLOCK_MM_INFOS = 9;
    static final int GROUP_IDX = 10;
    static final int CACHE_SALT = 11; // of maps alone
    static final Keys KEYS =
        new Keys(
            Keys.entry(TYPE, "type"),
            Keys.entry(BLOCK_HASHES, "block_hashes"),
            Keys.entry(PARENT_BLOCK_HASH, "parent_block_hash"),
            Keys.entry(TOKEN_IDS, "token_ids"),
            Keys.entry(BLOCK_SIZE, "block_size"),
            Keys.entry(LORA_ID, "lora_id"),
            Keys.entry(MEDIUM, "medium"),
            Keys.entry(LORA_NAME, "lora_name"),
            Keys.entry(EXTRA_KEYS, "extra_keys"),
            Keys.entry(BLOCK_MM_INFOS, "block_mm_infos"),
            Keys.entry(GROUP_IDX, "group_idx"),
            Keys.entry(CACHE_SALT, "cache_salt"));
  }

  /** The order of a removal that is an array, as fields of an event. */
  private static final int[] REMOVED_ORDER = {
    StoredField.TYPE, StoredField.BLOCK_HASHES, StoredField.MEDIUM, StoredField.GROUP_IDX
  };

  private static final String STORED = "BlockStored";
  private static final String REMOVED = "BlockRemoved";
  private static final String CLEARED = "AllBlocksCleared";
  private static final String SALT_PREFIX = "dynamo-cache-salt:";
  private static final long[] NO_HASHES = {};
  private static final int[] NO_TOKENS = {};

  private EngineEventCodec() {}

  /**
   * Reads a whole payload.
   *
   * @throws IllegalArgumentException when it is not such a batch
   */
  public static List<EngineKvEvent> decode(byte[] payload) {
    return EventBatch.decode("KV event payload", payload, in -> readEvent(in).event());
  }

  private static Fields readEvent(WireReader in) throws IOException {
    var fields = new Fields();
    if (in.isMap()) {
      in.beginMap();
      for (int field = in.nextKey(StoredField.KEYS);
          field != Keys.END;
          field = in.nextKey(StoredField.KEYS)) {
        fields.read(field, in);
      }
      return fields;
    }
    in.beginArray();
    for (int at = 0; in.nextElement(); at++) {
      fields.read(fieldAt(at, fields.type), in);
    }
    return fields;
  }

  private static int fieldAt(int position, String type) {
    if (type.equals(REMOVED)) {
      return position < REMOVED_ORDER.length ? REMOVED_ORDER[position] : Keys.UNKNOWN;
    }
    return position <= StoredField.GROUP_IDX ? position : Keys.UNKNOWN;
  }

  /** The fields of one event as they are read. */
  private static final class Fields {
    private String type = "";
    private long[] hashes = NO_HASHES;
    private @Nullable Long parent;
    private int[] tokens = NO_TOKENS;
    private int blockTokens;
    private @Nullable String medium;
    private @Nullable String adapter;
    private List<List<Object>> extraKeys = List.of();
    private @Nullable Long group;
    private @Nullable String salt;

    void read(int field, WireReader in) throws IOException {
      if (in.isNil()) {
        return;
      }
      switch (field) {
        case StoredField.TYPE -> type = in.string();
        case StoredField.BLOCK_HASHES -> hashes = readHashes(in);
        case StoredField.PARENT_BLOCK_HASH -> parent = hash(in.any());
        case StoredField.TOKEN_IDS -> tokens = in.ints();
        case StoredField.BLOCK_SIZE -> blockTokens = Math.clamp(in.integer(), 0, Integer.MAX_VALUE);
        case StoredField.MEDIUM -> medium = in.string();
        case StoredField.LORA_NAME -> adapter = in.string();
        case StoredField.EXTRA_KEYS -> extraKeys = readExtraKeys(in);
        case StoredField.GROUP_IDX -> group = in.integer();
        case StoredField.CACHE_SALT -> salt = in.string();
        default -> in.skip();
      }
    }

    private static long[] readHashes(WireReader in) throws IOException {
      var hashes = new long[8];
      int count = 0;
      in.beginArray();
      while (in.nextElement()) {
        if (count == hashes.length) {
          hashes = Arrays.copyOf(hashes, 2 * count);
        }
        hashes[count++] = hash(in.any());
      }
      return Arrays.copyOf(hashes, count);
    }

    /** Returns 64 bits: a number, signed or not, or the last bytes of a longer hash. */
    private static long hash(@Nullable Object value) throws IOException {
      if (value instanceof Long || value instanceof BigInteger) {
        return ((Number) value).longValue();
      }
      if (value instanceof byte[] bytes && bytes.length >= Long.BYTES) {
        return ByteBuffer.wrap(bytes).getLong(bytes.length - Long.BYTES);
      }
      throw new IOException("a block hash that is neither a number nor 8 bytes");
    }

    private static List<List<Object>> readExtraKeys(WireReader in) throws IOException {
      var blocks = new ArrayList<List<Object>>();
      if (!(in.any() instanceof List<?> all)) {
        throw new IOException("extra_keys is no list");
      }
      for (var block : all) {
        var keys = new ArrayList<Object>();
        if (block instanceof List<?> some) {
          for (var key : some) {
            if (key != null) {
              keys.add(key);
            }
          }
        }
        blocks.add(keys);
      }
      return blocks;
    }

    /** Returns the keys with the salt that Dynamo's consolidator sends beside them. */
    private List<List<Object>> extraKeys() {
      if (salt == null || salt.isEmpty()) {
        return extraKeys;
      }
      var all = new ArrayList<>(extraKeys);
      all.add(List.of(SALT_PREFIX + salt));
      return all;
    }

    @Nullable EngineKvEvent event() throws IOException {
      return switch (type) {
        case STORED -> {
          if (blockTokens < 1
              || (tokens.length != 0 && tokens.length != (long) hashes.length * blockTokens)) {
            throw new IOException(
                "%d blocks of %d tokens come with %d tokens"
                    .formatted(hashes.length, blockTokens, tokens.length));
          }
          yield new EngineKvEvent.Stored(
              hashes, parent, tokens, blockTokens, medium, adapter, extraKeys(), group);
        }
        case REMOVED -> new EngineKvEvent.Removed(hashes, medium, group);
        case CLEARED -> new EngineKvEvent.Cleared();
        case "" -> throw new IOException("an event without type");
        default -> null;
      };
    }
  }
}
