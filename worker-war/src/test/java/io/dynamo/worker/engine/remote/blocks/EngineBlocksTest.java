package io.dynamo.worker.engine.remote.blocks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.json.Json;
import io.dynamo.kv.EngineKvEvent;
import io.dynamo.kv.StorageTier;
import io.dynamo.kv.StoredBlock;
import io.dynamo.token.BlockHash;
import io.dynamo.token.BlockHasher;
import io.dynamo.token.SequenceHash;
import io.dynamo.wire.kv.EngineEventCodec;
import io.dynamo.worker.engine.KvEventSink;
import io.dynamo.worker.engine.LowerTierSink;
import io.dynamo.worker.engine.remote.Recording;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Reads KV events of live engines, byte for byte as they were recorded. */
class EngineBlocksTest {
  private static final int VLLM_MESSAGES = 17;
  private static final int SGLANG_MESSAGES = 10;
  private static final int BLOCK = 32;
  private static final int LIMIT = 100;
  private static final int SGLANG_BLOCK = 16;
  private static final String FOLDER = "vllm-0.32.0/kv-events/";

  /** Records the blocks of one rank by name, and the kinds of events. */
  private static final class BlockEventRecorder implements KvEventSink, LowerTierSink {
    final Map<SequenceHash, BlockHash> held = new LinkedHashMap<>();
    final List<String> below = new ArrayList<>();
    final List<String> log = new ArrayList<>();

    @Override
    public void stored(int rank, @Nullable SequenceHash parent, List<StoredBlock> blocks) {
      log.add("stored " + blocks.size() + " on " + rank);
      blocks.forEach(block -> held.put(block.hash(), block.content()));
    }

    @Override
    public void removed(int rank, List<SequenceHash> blocks) {
      log.add("removed " + blocks.size() + " on " + rank);
      blocks.forEach(held::remove);
    }

    @Override
    public void stored(
        int rank, StorageTier tier, @Nullable SequenceHash parent, List<StoredBlock> blocks) {
      below.add("+ %s %s %s".formatted(tier, parent, blocks));
    }

    @Override
    public void removed(int rank, StorageTier tier, List<SequenceHash> blocks) {
      below.add("- %s %s".formatted(tier, blocks));
    }

    @Override
    public void cleared(int rank) {
      log.add("cleared " + rank);
      held.clear();
    }
  }

  private final BlockEventRecorder heard = new BlockEventRecorder();
  private final EngineBlocks blocks = EngineBlocks.bounded(0, BLOCK, LIMIT, heard);

  private static List<EngineKvEvent> recorded(int message) {
    return EngineEventCodec.decode(Recording.file("%s%03d.frame2.bin".formatted(FOLDER, message)));
  }

  /** Returns the recorded prompt of 100 tokens. */
  private static int[] prompt() {
    var body =
        Json.readObject(Recording.of("vllm-0.32.0/http/01-completion-100-tokens.txt").request());
    return body.list("prompt").stream().mapToInt(id -> ((Number) id).intValue()).toArray();
  }

  @Test
  void allMessagesOfVllmAreReadAsTheirRecorderReadThem() {
    var lines =
        new String(Recording.file(FOLDER + "decoded.jsonl"), StandardCharsets.UTF_8)
            .lines()
            .toList();
    assertThat(lines).hasSize(VLLM_MESSAGES);
    for (int i = 0; i < VLLM_MESSAGES; i++) {
      var expected =
          (List<?>)
              Json.readObject(lines.get(i).getBytes(StandardCharsets.UTF_8)).list("payload").get(1);
      var events = recorded(i);
      assertThat(events).hasSize(expected.size());
      for (int j = 0; j < events.size(); j++) {
        assertSame(events.get(j), (Map<?, ?>) expected.get(j));
      }
    }
  }

  private static void assertSame(EngineKvEvent event, Map<?, ?> expected) {
    switch (event) {
      case EngineKvEvent.Stored stored -> {
        assertThat(expected.get("type")).isEqualTo("BlockStored");
        assertThat(stored.hashes()).containsExactly(longs(expected.get("block_hashes")));
        var parent = expected.get("parent_block_hash");
        assertThat(stored.parent())
            .isEqualTo(parent == null ? null : ((Number) parent).longValue());
        assertThat(Arrays.stream(stored.tokens()).asLongStream().toArray())
            .containsExactly(longs(expected.get("token_ids")));
        assertThat(stored.medium()).isEqualTo("GPU");
      }
      case EngineKvEvent.Removed removed -> {
        assertThat(expected.get("type")).isEqualTo("BlockRemoved");
        assertThat(removed.hashes()).containsExactly(longs(expected.get("block_hashes")));
      }
      case EngineKvEvent.Cleared _ ->
          assertThat(expected.get("type")).isEqualTo("AllBlocksCleared");
    }
  }

  private static long[] longs(@Nullable Object list) {
    return ((List<?>) Objects.requireNonNull(list))
        .stream().mapToLong(one -> ((Number) one).longValue()).toArray();
  }

  @Test
  void aPromptsBlocksAreThoseThatRoutersComputeFromItsTokens() {
    recorded(0).forEach(blocks::apply);
    var expected = BlockHasher.of(BLOCK).hash(prompt());
    assertThat(expected.length()).isEqualTo(3);
    assertThat(heard.held.values())
        .extracting(BlockHash::value)
        .containsExactly(expected.block(0), expected.block(1), expected.block(2));
    assertThat(heard.held.keySet())
        .extracting(Object::toString)
        .containsExactly("425734261895719409", "15444440888041948718", "4200037948375908548");
  }

  @Test
  void blocksUnderACacheSaltAreThoseOfThatSalt() {
    recorded(3).forEach(blocks::apply);
    var salted = BlockHasher.of(BLOCK, null, "tenant-a").hash(prompt());
    assertThat(heard.held.values())
        .extracting(BlockHash::value)
        .containsExactly(salted.block(0), salted.block(1), salted.block(2));
  }

  @Test
  void aBlockBehindASaltedOneHasItsSalt() {
    var parent = 7L;
    var first = new int[BLOCK];
    blocks.apply(stored(parent, null, first, List.of(List.of("tenant-a"))));
    blocks.apply(stored(8L, parent, first, List.of(List.of())));
    var salted = BlockHasher.of(BLOCK, null, "tenant-a").hash(new int[2 * BLOCK]);
    assertThat(heard.held.get(new SequenceHash(8))).isEqualTo(new BlockHash(salted.block(1)));
  }

  @Test
  void anAdaptersNameAmongTheKeysIsNoSalt() {
    blocks.apply(
        new EngineKvEvent.Stored(
            new long[] {9},
            null,
            new int[BLOCK],
            BLOCK,
            "GPU",
            "poet",
            List.of(List.of("poet")),
            0L));
    var expected = BlockHasher.of(BLOCK, "poet", null).hash(new int[BLOCK]).block(0);
    assertThat(heard.held.values()).containsExactly(new BlockHash(expected));
  }

  private static EngineKvEvent stored(
      long hash, @Nullable Long parent, int[] tokens, List<List<Object>> keys) {
    return new EngineKvEvent.Stored(
        new long[] {hash}, parent, tokens, BLOCK, "GPU", null, keys, 0L);
  }

  private static final int[] ONE = IntStream.range(0, BLOCK).toArray();
  private static final int[] TWO = IntStream.range(0, 2 * BLOCK).toArray();

  private static EngineKvEvent storedIn(
      @Nullable String medium, @Nullable Long parent, int[] tokens, long... hashes) {
    return new EngineKvEvent.Stored(hashes, parent, tokens, BLOCK, medium, null, List.of(), null);
  }

  private static EngineKvEvent removedFrom(@Nullable String medium, long... hashes) {
    return new EngineKvEvent.Removed(hashes, medium, null);
  }

  /** Returns what is reported of blocks that hold the first of the tokens in {@link #TWO}. */
  private static String added(StorageTier tier, @Nullable Long parent, int first, long... hashes) {
    var contents = BlockHasher.of(BLOCK).hash(TWO);
    var stored = new ArrayList<StoredBlock>();
    for (int i = 0; i < hashes.length; i++) {
      stored.add(
          new StoredBlock(new SequenceHash(hashes[i]), new BlockHash(contents.block(first + i))));
    }
    var behind = parent == null ? null : new SequenceHash(parent);
    return "+ %s %s %s".formatted(tier, behind, stored);
  }

  private static String gone(StorageTier tier, long hash) {
    return "- %s %s".formatted(tier, List.of(new SequenceHash(hash)));
  }

  @Test
  void eachMediumIsReportedInItsTier() {
    blocks.apply(storedIn("CPU_PINNED", null, TWO, 1, 2));
    blocks.apply(storedIn("NVME", null, ONE, 1));
    blocks.apply(storedIn("SHARED", null, ONE, 1));
    blocks.apply(removedFrom("NVME", 1));
    assertThat(heard.below)
        .containsExactly(
            added(StorageTier.HOST_PINNED, null, 0, 1, 2),
            added(StorageTier.DISK, null, 0, 1),
            added(StorageTier.EXTERNAL, null, 0, 1),
            gone(StorageTier.DISK, 1));
    assertThat(heard.log).as("on the device").isEmpty();
  }

  @Test
  void mediaAreTheOnesThatDynamoKnowsToTheLetter() {
    for (var medium : new String[] {null, "", "GPU", "DEVICE"}) {
      assertThat(StorageTier.ofMedium(medium)).as(medium).isEqualTo(StorageTier.DEVICE);
    }
    for (var medium : List.of("CPU", "CPU_PINNED", "CPU_TIER1")) {
      assertThat(StorageTier.ofMedium(medium)).as(medium).isEqualTo(StorageTier.HOST_PINNED);
    }
    for (var medium : List.of("CPU_TIER2", "DISK", "NVME", "STORAGE")) {
      assertThat(StorageTier.ofMedium(medium)).as(medium).isEqualTo(StorageTier.DISK);
    }
    for (var medium : List.of("EXTERNAL", "NETWORK", "REMOTE", "SHARED")) {
      assertThat(StorageTier.ofMedium(medium)).as(medium).isEqualTo(StorageTier.EXTERNAL);
    }
    for (var medium : List.of("gpu", " GPU", "CPU_TIER3", "x".repeat(1000), "\n\u202e")) {
      assertThat(StorageTier.ofMedium(medium)).as(medium).isNull();
      blocks.apply(storedIn(medium, null, ONE, 1));
      blocks.apply(removedFrom(medium, 1));
    }
    assertThat(heard.log).isEmpty();
    assertThat(heard.below).isEmpty();
  }

  @Test
  void aBlockOffloadedWithoutTokensIsTheOneOfItsName() {
    blocks.apply(storedIn("GPU", null, TWO, 1, 2));
    blocks.apply(storedIn("CPU", null, new int[0], 1, 2));
    blocks.apply(removedFrom("GPU", 2, 1));
    blocks.apply(storedIn("DISK", null, new int[0], 2));
    assertThat(heard.below)
        .containsExactly(
            added(StorageTier.HOST_PINNED, null, 0, 1, 2), added(StorageTier.DISK, 1L, 1, 2));
    assertThat(heard.held).isEmpty();
    blocks.apply(removedFrom("CPU", 1));
    blocks.apply(removedFrom("CPU", 1)); // unknown by now, and passed on as it is elsewhere
    assertThat(heard.below).endsWith(gone(StorageTier.HOST_PINNED, 1));
  }

  @Test
  void aBlockWithoutTokensIsHeldBackUntilTheyAreKnown() {
    blocks.apply(storedIn("CPU", null, new int[0], 2));
    assertThat(heard.below).isEmpty();
    blocks.apply(storedIn("GPU", null, TWO, 1, 2));
    assertThat(heard.log).containsExactly("stored 2 on 0");
    assertThat(heard.below).containsExactly(added(StorageTier.HOST_PINNED, 1L, 1, 2));
  }

  @Test
  void aBlockHeldBackThatLeavesIsNeverReported() {
    blocks.apply(storedIn("CPU", null, new int[0], 2));
    blocks.apply(removedFrom("CPU", 2));
    blocks.apply(storedIn("GPU", null, TWO, 1, 2));
    assertThat(heard.below).isEmpty();
  }

  @Test
  void aSaltIsKnownWhileAnyTierHoldsItsBlock() {
    blocks.apply(stored(7, null, ONE, List.of(List.of("tenant-a"))));
    blocks.apply(storedIn("CPU", null, new int[0], 7));
    blocks.apply(removedFrom("GPU", 7));
    blocks.apply(stored(8, 7L, new int[BLOCK], List.of(List.of())));
    var salted = BlockHasher.of(BLOCK, null, "tenant-a").hash(new int[BLOCK]);
    assertThat(heard.held).containsValue(new BlockHash(salted.block(0)));
  }

  @Test
  void moreBlocksThanTheLimitAreLeftOut() {
    for (long name = 0; name < 3L * LIMIT; name++) {
      blocks.apply(storedIn(name % 2 == 0 ? "GPU" : "CPU", null, ONE, name));
      blocks.apply(storedIn("DISK", null, new int[0], -1 - name)); // of no known tokens
    }
    assertThat(heard.held.size() + heard.below.size()).isEqualTo(LIMIT / 2);
    blocks.apply(removedFrom("GPU", 0));
    blocks.apply(storedIn("GPU", null, ONE, 5000));
    assertThat(heard.held).as("there is room again").containsKey(new SequenceHash(5000));
  }

  @Test
  void largeEventsAreReportedInParts() {
    int count = 2 * TierReport.MAX_BLOCKS + 1;
    var many = EngineBlocks.of(0, BLOCK, count, heard);
    var names = LongStream.rangeClosed(1, count).toArray();
    many.apply(storedIn("GPU", null, IntStream.range(0, count * BLOCK).toArray(), names));
    many.apply(removedFrom("GPU", names));
    assertThat(heard.log)
        .containsExactly(
            "stored 1024 on 0",
            "stored 1024 on 0",
            "stored 1 on 0",
            "removed 1024 on 0",
            "removed 1024 on 0",
            "removed 1 on 0");
  }

  @Test
  void blocksThatFollowThemselvesAreLeftOut() {
    blocks.apply(storedIn("GPU", 1L, ONE, 1));
    blocks.apply(storedIn("CPU", null, TWO, 2, 2));
    assertThat(heard.log).isEmpty();
    assertThat(heard.below).isEmpty();
  }

  @Test
  void aMessageOfOffloadedBlocksHasNoTokens() {
    var bare = ARRAYS.replace("920506", "90").replace("a3475055", "a3435055"); // CPU
    var events = EngineEventCodec.decode(HexFormat.of().parseHex(bare));
    assertThat(events.getFirst())
        .isInstanceOfSatisfying(
            EngineKvEvent.Stored.class,
            stored -> {
              assertThat(stored.tokens()).isEmpty();
              assertThat(stored.medium()).isEqualTo("CPU");
            });
  }

  @Test
  void blocksThatNoRouterCouldFindAreLeftOut() {
    var tokens = new int[BLOCK];
    blocks.apply(
        new EngineKvEvent.Stored(new long[] {1}, null, tokens, BLOCK, "TAPE", null, List.of(), 0L));
    blocks.apply(
        new EngineKvEvent.Stored(new long[] {2}, null, tokens, BLOCK, "GPU", null, List.of(), 1L));
    blocks.apply(
        new EngineKvEvent.Stored(
            new long[] {3}, null, new int[16], 16, "GPU", null, List.of(), 0L));
    blocks.apply(stored(4, null, tokens, List.of(List.of(List.of("image", 3L)))));
    blocks.apply(stored(5, 4L, tokens, List.of(List.of())));
    blocks.apply(new EngineKvEvent.Removed(new long[] {4, 5}, "GPU", 0L));
    assertThat(heard.log).isEmpty();
    blocks.apply(stored(5, null, tokens, List.of(List.of())));
    assertThat(heard.log).containsExactly("stored 1 on 0");
  }

  @Test
  void eventsOfSglangAreReadWithTheirSignedHashes() {
    var sglang = EngineBlocks.of(0, SGLANG_BLOCK, 100, heard);
    for (int i = 0; i < SGLANG_MESSAGES; i++) {
      EngineEventCodec.decode(
              Recording.file("sglang-0.5.23/kv-events/%03d.frame2.bin".formatted(i)))
          .forEach(sglang::apply);
    }
    assertThat(heard.log).contains("stored 6 on 0", "cleared 0").hasSize(SGLANG_MESSAGES);
    var expected = BlockHasher.of(SGLANG_BLOCK).hash(prompt());
    assertThat(heard.held.values())
        .as("after the flush, one prompt of 100 tokens")
        .extracting(BlockHash::value)
        .containsExactlyElementsOf(IntStream.range(0, 6).mapToObj(expected::block).toList());
    assertThat(heard.held.keySet()).first().isEqualTo(new SequenceHash(-1425232744281033968L));
  }

  @Test
  void allMessagesLeaveTheBlocksThatTheEngineHolds() {
    for (int i = 0; i < VLLM_MESSAGES; i++) {
      recorded(i).forEach(blocks::apply);
    }
    assertThat(heard.log).contains("cleared 0");
    assertThat(heard.log.stream().filter(line -> line.startsWith("removed"))).isNotEmpty();
    assertThat(heard.held).as("after the reset, one prompt of 100 tokens").hasSize(3);
  }

  @Test
  void forgettingIsReportedOnlyOfWhatWasReported() {
    blocks.forget();
    assertThat(heard.log).isEmpty();
    recorded(0).forEach(blocks::apply);
    blocks.forget();
    blocks.forget();
    assertThat(heard.log).containsExactly("stored 3 on 0", "cleared 0");
  }

  /**
   * [0.0, [["BlockStored", [-1], nil, [5, 6], 2, nil, "GPU"], ["BlockRemoved", [-1]],
   * ["AllBlocksCleared"]], 0].
   */
  private static final String ARRAYS =
      "93cb0000000000000000"
          + "93"
          + "97ab426c6f636b53746f726564"
          + "91ff"
          + "c0"
          + "920506"
          + "02"
          + "c0"
          + "a3475055"
          + "92ac426c6f636b52656d6f766564"
          + "91ff"
          + "91b0416c6c426c6f636b73436c6561726564"
          + "00";

  @Test
  void eventsOfOlderVersionsAreArraysInAFixedOrder() {
    var events = EngineEventCodec.decode(HexFormat.of().parseHex(ARRAYS));
    assertThat(events).hasSize(3);
    assertThat(events.get(0))
        .isInstanceOfSatisfying(
            EngineKvEvent.Stored.class,
            stored -> {
              assertThat(stored.hashes()).containsExactly(-1);
              assertThat(stored.tokens()).containsExactly(5, 6);
              assertThat(stored.blockTokens()).isEqualTo(2);
              assertThat(stored.medium()).isEqualTo("GPU");
              assertThat(stored.extraKeys()).isEmpty();
            });
    assertThat(events.get(1))
        .isInstanceOfSatisfying(
            EngineKvEvent.Removed.class,
            removed -> assertThat(removed.hashes()).containsExactly(-1));
    assertThat(events.get(2)).isInstanceOf(EngineKvEvent.Cleared.class);
  }

  @Test
  void theSaltOfDynamosConsolidatorIsReadFromItsField() {
    var event =
        "93cb0000000000000000"
            + "91"
            + "86"
            + "a474797065ab426c6f636b53746f726564" // type
            + "ac626c6f636b5f686173686573" // block_hashes
            + "9107"
            + "a9746f6b656e5f696473" // token_ids
            + "dc0020"
            + "00".repeat(BLOCK)
            + "aa626c6f636b5f73697a65" // block_size
            + "20"
            + "aa63616368655f73616c74" // cache_salt
            + "a874656e616e742d61"
            + "a66d656469756d" // medium
            + "a3475055"
            + "00";
    EngineEventCodec.decode(HexFormat.of().parseHex(event)).forEach(blocks::apply);
    var salted = BlockHasher.of(BLOCK, null, "tenant-a").hash(new int[BLOCK]);
    assertThat(heard.held).containsValue(new BlockHash(salted.block(0)));
  }

  @Test
  void malformedBatchesAreRefused() {
    for (var hex :
        List.of(
            "", "c0", "90", "91cb0000000000000000", "92cb000000000000000091c0", ARRAYS + "00")) {
      assertThatThrownBy(() -> EngineEventCodec.decode(HexFormat.of().parseHex(hex)))
          .as(hex)
          .isInstanceOf(IllegalArgumentException.class);
    }
    var mismatch = ARRAYS.replace("920506", "9105");
    assertThatThrownBy(() -> EngineEventCodec.decode(HexFormat.of().parseHex(mismatch)))
        .hasMessageContaining("1 blocks of 2 tokens come with 1 tokens");
  }
}
