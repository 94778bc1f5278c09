package io.dynamo.wire.kv;

import io.dynamo.discovery.InstanceId;
import io.dynamo.kv.KvIndexQuery;
import io.dynamo.kv.KvIndexReply;
import io.dynamo.kv.StorageTier;
import io.dynamo.kv.WorkerRank;
import io.dynamo.net.PayloadFormat;
import io.dynamo.token.BlockHashes;
import io.dynamo.wire.ItemForm;
import io.dynamo.wire.Keys;
import io.dynamo.wire.MessageCodec;
import io.dynamo.wire.WireReader;
import io.dynamo.wire.WireWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The messages of a served index: {@code IndexerQueryRequest} out, {@code IndexerQueryResponse}
 * back as one plain item. Stateless.
 */
public final class KvIndexCodec implements MessageCodec<KvIndexQuery, KvIndexReply> {
  private static final List<StorageTier> BELOW = StorageTier.BELOW_DEVICE; // in the order of TIERS
  private static final Keys TIERS = new Keys("host_pinned", "disk", "external");
  private static final List<String> TIER_NAMES = List.of("host_pinned", "disk", "external");

  /** The positions of the names in {@link #KEYS}. */
  private static final class QueryField {
    static final int MODEL_NAME = 0;
    static final int BLOCK_HASHES = 1;
    static final int DEVICE_ONLY = 2;
    static final Keys KEYS =
        new Keys(
            Keys.entry(MODEL_NAME, "model_name"),
            Keys.entry(BLOCK_HASHES, "block_hashes"),
            Keys.entry(DEVICE_ONLY, "device_only"));
  }

  /** The positions of the names in {@link #KEYS}. */
  private static final class ReplyKind {
    static final int TIERED_SCORES = 0;
    static final int ERROR = 1;
    static final Keys KEYS =
        new Keys(Keys.entry(TIERED_SCORES, "TieredScores"), Keys.entry(ERROR, "Error"));
  }

  /** The positions of the names in {@link #KEYS}. */
  private static final class ScoresField {
    static final int DEVICE = 0;
    static final int LOWER_TIER = 1;
    static final Keys KEYS =
        new Keys(Keys.entry(DEVICE, "device"), Keys.entry(LOWER_TIER, "lower_tier"));
  }

  /** The positions of the names in {@link #KEYS}. */
  private static final class ListField {
    static final int SCORES = 0;
    static final int HITS = 1;
    static final Keys KEYS = new Keys(Keys.entry(SCORES, "scores"), Keys.entry(HITS, "hits"));
  }

  /** The positions of the names in {@link #KEYS}. */
  private static final class RankField {
    static final int WORKER_ID = 0;
    static final int DP_RANK = 1;
    static final Keys KEYS =
        new Keys(Keys.entry(WORKER_ID, "worker_id"), Keys.entry(DP_RANK, "dp_rank"));
  }

  @Override
  public ItemForm itemForm() {
    return ItemForm.PLAIN;
  }

  @Override
  public byte[] encodeRequest(KvIndexQuery request, PayloadFormat format) {
    return WireWriter.write(request, format, KvIndexCodec::write);
  }

  @Override
  public KvIndexQuery decodeRequest(ByteBuffer body, PayloadFormat format) {
    return WireReader.read("index query", body, format, KvIndexCodec::readQuery);
  }

  @Override
  public byte[] encodeItem(KvIndexReply item, PayloadFormat format) {
    return WireWriter.write(item, format, KvIndexCodec::write);
  }

  @Override
  public KvIndexReply decodeItem(ByteBuffer body, PayloadFormat format) {
    return WireReader.read("index reply", body, format, KvIndexCodec::readReply);
  }

  private static void write(WireWriter out, KvIndexQuery query) throws IOException {
    var prompt = query.prompt();
    var deviceOnly = query.deviceOnly();
    out.beginMap(deviceOnly == null ? 2 : 3);
    out.key("model_name");
    out.string(query.model());
    out.key("block_hashes");
    out.beginArray(prompt.length());
    for (int i = 0; i < prompt.length(); i++) {
      out.unsigned(prompt.block(i));
    }
    out.endArray();
    if (deviceOnly != null) {
      out.key("device_only");
      out.bool(deviceOnly);
    }
    out.endMap();
  }

  private static KvIndexQuery readQuery(WireReader in) throws IOException {
    String model = null;
    BlockHashes prompt = null;
    Boolean deviceOnly = null;
    in.beginMap();
    for (int key = in.nextKey(QueryField.KEYS);
        key != Keys.END;
        key = in.nextKey(QueryField.KEYS)) {
      switch (key) {
        case QueryField.MODEL_NAME -> model = in.string();
        case QueryField.BLOCK_HASHES -> prompt = BlockHashes.ofBlocks(hashes(in));
        case QueryField.DEVICE_ONLY -> deviceOnly = in.isNil() ? null : (Boolean) in.bool();
        default -> in.skip();
      }
    }
    if (model == null || prompt == null) {
      throw new IOException("model_name or block_hashes is missing");
    }
    return new KvIndexQuery(model, prompt, deviceOnly);
  }

  private static long[] hashes(WireReader in) throws IOException {
    var hashes = new long[64];
    int n = 0;
    in.beginArray();
    while (in.nextElement()) {
      if (n == hashes.length) {
        hashes = Arrays.copyOf(hashes, 2 * n);
      }
      hashes[n++] = in.unsigned();
    }
    return Arrays.copyOf(hashes, n);
  }

  private static void write(WireWriter out, KvIndexReply reply) throws IOException {
    out.beginMap(1);
    switch (reply) {
      case KvIndexReply.Scores scores -> {
        out.key("TieredScores");
        out.beginMap(2);
        out.key("device");
        out.beginMap(2);
        out.key("scores");
        write(out, scores.device());
        out.key("frequencies");
        out.beginArray(0);
        out.endArray();
        out.endMap();
        out.key("lower_tier");
        write(out, scores.below());
        out.endMap();
      }
      case KvIndexReply.Refused refused -> {
        out.key("Error");
        out.string(refused.message());
      }
    }
    out.endMap();
  }

  private static void write(WireWriter out, Map<StorageTier, List<KvIndexReply.RankOverlap>> below)
      throws IOException {
    out.beginArray(below.size());
    for (var tier : BELOW) {
      var held = below.get(tier);
      if (held != null) {
        out.beginArray(2);
        out.string(TIER_NAMES.get(BELOW.indexOf(tier)));
        out.beginMap(1);
        out.key("hits");
        write(out, held);
        out.endMap();
        out.endArray();
      }
    }
    out.endArray();
  }

  private static void write(WireWriter out, List<KvIndexReply.RankOverlap> all) throws IOException {
    out.beginArray(all.size());
    for (var one : all) {
      out.beginArray(2);
      out.beginMap(2);
      out.key("worker_id");
      out.unsigned(one.rank().worker().value());
      out.key("dp_rank");
      out.integer(one.rank().rank());
      out.endMap();
      out.integer(one.blocks());
      out.endArray();
    }
    out.endArray();
  }

  private static KvIndexReply readReply(WireReader in) throws IOException {
    KvIndexReply reply = null;
    int replies = 0;
    in.beginMap();
    for (int key = in.nextKey(ReplyKind.KEYS); key != Keys.END; key = in.nextKey(ReplyKind.KEYS)) {
      replies++;
      switch (key) {
        case ReplyKind.TIERED_SCORES -> reply = readScores(in);
        case ReplyKind.ERROR -> reply = new KvIndexReply.Refused(in.string());
        default -> in.skip();
      }
    }
    if (reply == null || replies != 1) {
      throw new IOException("it is not one reply of a known kind");
    }
    return reply;
  }

  private static KvIndexReply readScores(WireReader in) throws IOException {
    List<KvIndexReply.RankOverlap> device = List.of();
    var below = new EnumMap<StorageTier, List<KvIndexReply.RankOverlap>>(StorageTier.class);
    in.beginMap();
    for (int key = in.nextKey(ScoresField.KEYS);
        key != Keys.END;
        key = in.nextKey(ScoresField.KEYS)) {
      switch (key) {
        case ScoresField.DEVICE -> device = readList(in);
        case ScoresField.LOWER_TIER -> readTiers(in, below);
        default -> in.skip();
      }
    }
    return new KvIndexReply.Scores(device, below);
  }

  private static void readTiers(
      WireReader in, Map<StorageTier, List<KvIndexReply.RankOverlap>> below) throws IOException {
    in.beginArray();
    while (in.nextElement()) {
      in.beginArray();
      element(in);
      int tier = in.word(TIERS);
      element(in);
      if (tier == Keys.UNKNOWN) {
        in.skip();
      } else {
        below.put(BELOW.get(tier), readList(in));
      }
      noMore(in);
    }
  }

  /** Reads the list under one of a map's names. */
  private static List<KvIndexReply.RankOverlap> readList(WireReader in) throws IOException {
    List<KvIndexReply.RankOverlap> held = List.of();
    in.beginMap();
    for (int key = in.nextKey(ListField.KEYS); key != Keys.END; key = in.nextKey(ListField.KEYS)) {
      if (key == Keys.UNKNOWN) {
        in.skip();
      } else {
        held = readHeld(in);
      }
    }
    return held;
  }

  private static List<KvIndexReply.RankOverlap> readHeld(WireReader in) throws IOException {
    var held = new ArrayList<KvIndexReply.RankOverlap>();
    in.beginArray();
    while (in.nextElement()) {
      in.beginArray();
      element(in);
      var rank = readRank(in);
      element(in);
      held.add(new KvIndexReply.RankOverlap(rank, Math.max(0, in.smallInteger())));
      noMore(in);
    }
    return held;
  }

  private static WorkerRank readRank(WireReader in) throws IOException {
    @Nullable InstanceId worker = null;
    int rank = 0;
    in.beginMap();
    for (int key = in.nextKey(RankField.KEYS); key != Keys.END; key = in.nextKey(RankField.KEYS)) {
      switch (key) {
        case RankField.WORKER_ID -> worker = new InstanceId(in.unsigned());
        case RankField.DP_RANK -> rank = in.smallInteger();
        default -> in.skip();
      }
    }
    if (worker == null) {
      throw new IOException("a score without worker_id");
    }
    return new WorkerRank(worker, rank);
  }

  private static void element(WireReader in) throws IOException {
    if (!in.nextElement()) {
      throw new IOException("a pair has two elements");
    }
  }

  private static void noMore(WireReader in) throws IOException {
    if (in.nextElement()) {
      throw new IOException("a pair has two elements");
    }
  }
}
