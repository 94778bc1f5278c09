package io.dynamo.router.index;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.discovery.InstanceId;
import io.dynamo.kv.KvEvent;
import io.dynamo.kv.StorageTier;
import io.dynamo.kv.StoredBlock;
import io.dynamo.kv.WorkerRank;
import io.dynamo.token.BlockHash;
import io.dynamo.token.BlockHashes;
import io.dynamo.token.SequenceHash;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The contract on the device, and a comparison of lower tiers with a naive walk. */
class TieredIndexerTest extends KvIndexerContract {
  private static final WorkerRank RANK = new WorkerRank(new InstanceId(1), 0);
  private static final List<StorageTier> LOWER =
      List.of(StorageTier.HOST_PINNED, StorageTier.DISK, StorageTier.EXTERNAL);
  private static final int CONTENTS = 2;
  private static final int DEPTH = 5;

  @Override
  KvIndexer newIndexer() {
    return new TieredIndexer();
  }

  private final TieredIndexer index = new TieredIndexer();

  private record Edge(long parent, long content) {}

  /**
   * Names of blocks by parent's name and content, one map per tier, with the device's names, too.
   */
  private final Map<StorageTier, Map<Edge, Long>> naive = new HashMap<>();

  private int[] extension(BlockHashes prompt) {
    var host = new int[1];
    var disk = new int[1];
    index.extend(prompt, index.match(prompt), List.of(RANK), host, disk);
    return new int[] {host[0], disk[0]};
  }

  private int[] walk(BlockHashes prompt) {
    int depth = 0;
    long above = 0;
    var counts = new EnumMap<StorageTier, Integer>(StorageTier.class);
    for (var tier : StorageTier.values()) {
      var blocks = naive.getOrDefault(tier, Map.of());
      while (depth < prompt.length()) {
        var name = blocks.get(new Edge(above, prompt.block(depth)));
        if (name == null) {
          break;
        }
        above = name;
        depth++;
        counts.merge(tier, 1, Integer::sum);
      }
    }
    return new int[] {
      counts.getOrDefault(StorageTier.HOST_PINNED, 0),
      counts.getOrDefault(StorageTier.DISK, 0) + counts.getOrDefault(StorageTier.EXTERNAL, 0)
    };
  }

  /**
   * Returns the engine's name of a prefix: not Dynamo's hash, and never 0, which is the root here.
   */
  private static long name(long[] contents, int length) {
    long name = 1;
    for (int i = 0; i < length; i++) {
      name = 31 * name + contents[i];
    }
    return name;
  }

  private static KvEvent.Stored stored(long[] contents, int from, int to) {
    @Nullable SequenceHash parent = from == 0 ? null : new SequenceHash(name(contents, from));
    return new KvEvent.Stored(
        1,
        parent,
        IntStream.range(from, to)
            .mapToObj(
                i ->
                    new StoredBlock(
                        new SequenceHash(name(contents, i + 1)), new BlockHash(contents[i])))
            .toList());
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 5, 8, 13})
  void lowerTiersAgreeWithANaiveWalk(long seed) {
    var random = new Random(seed);
    for (int step = 0; step < 3000; step++) {
      var contents = random.longs(DEPTH, 1, 1 + CONTENTS).toArray();
      var tier = LOWER.get(random.nextInt(3));
      var blocks = naive.computeIfAbsent(tier, _ -> new HashMap<>());
      int from = random.nextInt(DEPTH);
      int to = from + 1 + random.nextInt(DEPTH - from);
      switch (random.nextInt(8)) {
        case 0, 1, 2 -> {
          index.apply(RANK, tier, stored(contents, from, to));
          for (int i = from; i < to; i++) {
            blocks.put(
                new Edge(i == 0 ? 0 : name(contents, i), contents[i]), name(contents, i + 1));
          }
        }
        case 3, 4 -> {
          long gone = name(contents, to);
          index.apply(RANK, tier, new KvEvent.Removed(1, List.of(new SequenceHash(gone))));
          blocks.values().removeIf(name -> name == gone);
        }
        case 5 -> { // whole prefixes only, so that the device's rules on parents do not matter
          index.apply(RANK, stored(contents, 0, to));
          var device = naive.computeIfAbsent(StorageTier.DEVICE, _ -> new HashMap<>());
          for (int i = 0; i < to; i++) {
            device.put(
                new Edge(i == 0 ? 0 : name(contents, i), contents[i]), name(contents, i + 1));
          }
        }
        default -> {
          if (random.nextInt(200) == 0) {
            index.apply(RANK, tier, new KvEvent.Cleared(1));
            blocks.clear();
          } else if (random.nextInt(200) == 0) {
            index.apply(RANK, new KvEvent.Cleared(1));
            naive.clear();
          }
        }
      }
      var prompt = BlockHashes.ofBlocks(random.longs(DEPTH, 1, 1 + CONTENTS).toArray());
      assertThat(extension(prompt)).as("seed %d, step %d", seed, step).isEqualTo(walk(prompt));
    }
  }

  @Test
  void aForgottenWorkerHoldsNothingInAnyTier() {
    var contents = new long[] {1, 2};
    index.apply(RANK, StorageTier.HOST_PINNED, stored(contents, 0, 2));
    assertThat(extension(BlockHashes.ofBlocks(contents))).containsExactly(2, 0);
    index.forget(RANK.worker());
    assertThat(extension(BlockHashes.ofBlocks(contents))).containsExactly(0, 0);
    assertThat(index.size()).isZero();
  }

  @Test
  void blocksThatStayAreCountedWhileOthersComeAndGo() throws Exception {
    var onDevice = new long[] {1, 2};
    var all = new long[] {1, 2, 3, 4, 5};
    var other = new long[] {6, 7, 8, 9};
    index.apply(RANK, stored(onDevice, 0, 2));
    index.apply(RANK, StorageTier.HOST_PINNED, stored(all, 2, 4));
    index.apply(RANK, StorageTier.DISK, stored(all, 4, 5));
    var written = new AtomicBoolean();
    var reader =
        CompletableFuture.supplyAsync(
            () -> {
              int wrong = 0;
              var prompt = BlockHashes.ofBlocks(all);
              while (!written.get()) {
                wrong += Arrays.equals(extension(prompt), new int[] {2, 1}) ? 0 : 1;
              }
              return wrong;
            });
    try {
      var names = IntStream.rangeClosed(1, 4).mapToObj(i -> new SequenceHash(name(other, i)));
      var removed = new KvEvent.Removed(2, names.toList());
      for (int round = 0; round < 20_000; round++) {
        index.apply(RANK, stored(other, 0, 4));
        index.apply(RANK, StorageTier.HOST_PINNED, stored(other, 0, 4));
        index.apply(RANK, StorageTier.EXTERNAL, stored(other, 0, 4));
        index.apply(RANK, removed);
        index.apply(RANK, StorageTier.HOST_PINNED, removed);
        index.apply(RANK, StorageTier.EXTERNAL, removed);
      }
    } finally {
      written.set(true);
    }
    assertThat(reader.get()).isZero();
  }
}
