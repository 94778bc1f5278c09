package io.dynamo.worker.engine.remote.blocks;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.kv.EngineKvEvent;
import io.dynamo.kv.StorageTier;
import io.dynamo.token.BlockHasher;
import io.dynamo.token.SequenceHash;
import io.dynamo.token.SequenceHasher;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Merges the events of an engine and of a manager of its lower tiers. */
class MergedBlocksTest {
  private static final int BLOCK = 4;
  private static final int LIMIT = 50;
  private static final int[] TOKENS = IntStream.range(0, 3 * BLOCK).toArray();

  private static final List<StorageTier> TIERS = List.of(StorageTier.values());

  private final TierMirror router = new TierMirror();
  private final MergedBlocks merged = new MergedBlocks(0, BLOCK, LIMIT, router);
  private final EngineBlocks engine = merged.newEngine();
  private final EngineBlocks manager = merged.newManager();

  private static EngineKvEvent stored(
      String medium, @Nullable Long parent, int[] tokens, long... hashes) {
    return new EngineKvEvent.Stored(hashes, parent, tokens, BLOCK, medium, null, List.of(), null);
  }

  /** Stores blocks by their names alone. */
  private static EngineKvEvent copied(String medium, long... hashes) {
    return stored(medium, null, new int[0], hashes);
  }

  private static EngineKvEvent salted(
      String medium, @Nullable Long parent, int[] tokens, String salt, long hash) {
    return new EngineKvEvent.Stored(
        new long[] {hash}, parent, tokens, BLOCK, medium, null, List.of(List.of(salt)), null);
  }

  private static EngineKvEvent removed(String medium, long... hashes) {
    return new EngineKvEvent.Removed(hashes, medium, null);
  }

  private static int[] tokens(int fromBlock, int toBlock) {
    return IntStream.range(fromBlock * BLOCK, toBlock * BLOCK).toArray();
  }

  /** Returns the names for routers of the first blocks of {@link #TOKENS}. */
  private static Set<SequenceHash> names(int count) {
    return names(BlockHasher.of(BLOCK), TOKENS, count);
  }

  private static Set<SequenceHash> names(BlockHasher of, int[] tokens, int count) {
    var hasher = new SequenceHasher(of);
    hasher.append(tokens);
    var names = new HashSet<SequenceHash>();
    for (int i = 0; i < count; i++) {
      names.add(new SequenceHash(hasher.sequence(i)));
    }
    return names;
  }

  @Test
  void theFirstStoreAndTheLastRemovalAreReported() {
    engine.apply(stored("GPU", null, TOKENS, 1, 2, 3));
    manager.apply(stored("GPU", null, TOKENS, 71, 72, 73));
    assertThat(router.in(StorageTier.DEVICE)).isEqualTo(names(3));
    engine.apply(removed("GPU", 3, 2));
    manager.apply(removed("GPU", 73));
    assertThat(router.in(StorageTier.DEVICE)).isEqualTo(names(2));
    engine.apply(removed("GPU", 1));
    manager.apply(removed("GPU", 72, 71));
    assertThat(router.log).containsExactly("+3 DEVICE", "-1 DEVICE", "-2 DEVICE");
    assertThat(merged.size()).isZero();
  }

  @Test
  void eachTierIsMergedOnItsOwn() {
    engine.apply(stored("GPU", null, TOKENS, 1, 2, 3));
    manager.apply(stored("CPU", null, tokens(0, 2), 71, 72));
    engine.apply(stored("CPU", null, tokens(0, 1), 1));
    engine.apply(removed("GPU", 3, 2, 1));
    assertThat(router.in(StorageTier.DEVICE)).isEmpty();
    assertThat(router.in(StorageTier.HOST_PINNED)).isEqualTo(names(2));
    manager.apply(removed("CPU", 72, 71));
    assertThat(router.in(StorageTier.HOST_PINNED)).isEqualTo(names(1));
  }

  @Test
  void theSameStoreOfTheEngineIsNotReportedAndItsCopyCounts() {
    for (int i = 0; i < 2; i++) {
      engine.apply(stored("DISK", null, TOKENS, 1, 2, 3));
    }
    assertThat(router.log).containsExactly("+3 DISK");
    engine.apply(removed("DISK", 1));
    assertThat(router.in(StorageTier.DISK)).isEqualTo(names(3));
    engine.apply(removed("DISK", 1, 1, 1));
    assertThat(router.in(StorageTier.DISK)).hasSize(2);
  }

  @Test
  void theSameStoreOfTheManagerCountsOnce() {
    manager.apply(copied("CPU", 72));
    manager.apply(copied("CPU", 72));
    for (int i = 0; i < 2; i++) {
      manager.apply(stored("DISK", null, TOKENS, 71, 72, 73));
      manager.apply(copied("DISK", 73));
    }
    assertThat(router.log).containsExactly("+3 DISK", "+1 HOST_PINNED");
    manager.apply(removed("CPU", 72));
    manager.apply(removed("DISK", 71, 72, 73));
    for (var tier : TIERS) {
      assertThat(router.in(tier)).isEmpty();
    }
    assertThat(merged.size()).isZero();
  }

  @Test
  void aHeldBackBlockThatIsStoredTwiceByTheManagerIsGoneWithOneRemoval() {
    manager.apply(copied("CPU", 2));
    manager.apply(copied("CPU", 2));
    manager.apply(removed("CPU", 2));
    engine.apply(stored("GPU", null, TOKENS, 1, 2, 3));
    assertThat(router.log).containsExactly("+3 DEVICE");
  }

  @Test
  void aClearTakesOnlyTheBlocksOfItsPublisher() {
    engine.apply(stored("GPU", null, TOKENS, 1, 2, 3));
    engine.apply(stored("CPU", null, tokens(0, 1), 1));
    manager.apply(stored("CPU", null, TOKENS, 71, 72, 73));
    assertThat(engine.forget()).isTrue();
    assertThat(engine.forget()).as("nothing is left").isFalse();
    assertThat(router.in(StorageTier.DEVICE)).isEmpty();
    assertThat(router.in(StorageTier.HOST_PINNED)).isEqualTo(names(3));
    assertThat(router.log).doesNotContain("cleared");
    engine.apply(stored("GPU", null, TOKENS, 1, 2, 3));
    manager.apply(new EngineKvEvent.Cleared());
    assertThat(router.in(StorageTier.DEVICE)).isEqualTo(names(3));
    assertThat(router.in(StorageTier.HOST_PINNED)).isEmpty();
  }

  @Test
  void theClearOfTheLastPublisherClearsTheRank() {
    engine.apply(stored("GPU", null, TOKENS, 1, 2, 3));
    manager.apply(stored("GPU", null, TOKENS, 71, 72, 73));
    manager.forget();
    engine.forget();
    assertThat(router.log).containsExactly("+3 DEVICE", "cleared");
    assertThat(merged.size()).isZero();
  }

  @Test
  void aBlockWithoutTokensIsTheOneThatTheOtherPublisherNames() {
    engine.apply(stored("GPU", null, TOKENS, 1, 2, 3));
    manager.apply(copied("CPU", 2, 3));
    assertThat(router.log).containsExactly("+3 DEVICE", "+2 HOST_PINNED");
    engine.forget();
    manager.apply(copied("DISK", 3));
    assertThat(router.in(StorageTier.DISK)).as("known from then on").hasSize(1);
    manager.apply(removed("CPU", 2, 3));
    assertThat(router.in(StorageTier.HOST_PINNED)).isEmpty();
  }

  @Test
  void aBlockWithoutTokensIsHeldBackUntilTheOtherPublisherNamesIt() {
    manager.apply(copied("CPU", 2, 3));
    manager.apply(copied("CPU", 2));
    manager.apply(copied("DISK", 2));
    manager.apply(removed("DISK", 2));
    assertThat(router.log).isEmpty();
    engine.apply(stored("GPU", null, TOKENS, 1, 2, 3));
    assertThat(router.in(StorageTier.DEVICE)).isEqualTo(names(3));
    assertThat(router.in(StorageTier.HOST_PINNED)).hasSize(2);
    assertThat(router.in(StorageTier.DISK)).isEmpty();
    engine.apply(stored("CPU", null, TOKENS, 1, 2, 3));
    manager.apply(removed("CPU", 2, 2, 2));
    assertThat(router.in(StorageTier.HOST_PINNED)).as("of the engine").isEqualTo(names(3));
  }

  @Test
  void aBlockBehindOneOfTheOtherPublisherHasItsPlaceAndSalt() {
    engine.apply(salted("GPU", null, tokens(0, 1), "tenant-a", 1));
    manager.apply(stored("CPU", 1L, tokens(1, 2), 72));
    var salted = names(BlockHasher.of(BLOCK, null, "tenant-a"), TOKENS, 2);
    salted.removeAll(router.in(StorageTier.DEVICE));
    assertThat(router.in(StorageTier.HOST_PINNED)).isEqualTo(salted);
  }

  @Test
  void aBlockBehindAnUnknownOneIsHeldBack() {
    manager.apply(stored("CPU", 71L, tokens(1, 2), 72));
    assertThat(router.log).isEmpty();
    manager.apply(stored("CPU", null, tokens(0, 1), 71));
    manager.apply(stored("DISK", 71L, tokens(1, 2), 72));
    assertThat(router.in(StorageTier.DISK)).hasSize(1);
    assertThat(router.in(StorageTier.HOST_PINNED)).isEqualTo(names(2));
    manager.apply(removed("CPU", 72, 71));
    assertThat(router.in(StorageTier.HOST_PINNED)).isEmpty();
  }

  @Test
  void aBlockThatWasHeldBackIsReportedOnceItsPredecessorIsKnown() {
    manager.apply(stored("CPU", 72L, tokens(2, 3), 73));
    manager.apply(stored("CPU", 71L, tokens(1, 2), 72));
    manager.apply(copied("DISK", 73));
    assertThat(router.log).isEmpty();
    manager.apply(stored("CPU", null, tokens(0, 1), 71));
    assertThat(router.in(StorageTier.HOST_PINNED)).isEqualTo(names(3));
    assertThat(router.in(StorageTier.DISK)).hasSize(1);
    manager.apply(removed("CPU", 73, 72, 71));
    manager.apply(removed("DISK", 73));
    assertThat(merged.size()).isZero();
  }

  @Test
  void aLatePredecessorOfTheOtherPublisherGivesItsPlaceAndSalt() {
    manager.apply(stored("CPU", 1L, tokens(1, 3), 72, 73));
    manager.apply(removed("CPU", 72));
    engine.apply(copied("DISK", 73));
    engine.apply(salted("GPU", null, tokens(0, 1), "tenant-a", 1));
    var salted = BlockHasher.of(BLOCK, null, "tenant-a");
    var third = names(salted, TOKENS, 3);
    third.removeAll(names(salted, TOKENS, 2));
    assertThat(router.in(StorageTier.HOST_PINNED)).isEqualTo(third);
    assertThat(router.in(StorageTier.DISK)).as("the engine's, by that name").isEqualTo(third);
  }

  @Test
  void storesThatWaitForAPredecessorGoWithAClear() {
    manager.apply(stored("CPU", 71L, tokens(1, 2), 72));
    manager.forget();
    manager.apply(copied("CPU", 72));
    manager.apply(stored("CPU", null, tokens(0, 1), 71));
    assertThat(router.in(StorageTier.HOST_PINNED)).isEqualTo(names(1));
  }

  @Test
  void blocksThatAreLearntLeaveTheRunOfTheOtherPublisherWhole() {
    manager.apply(copied("CPU", 1, 2, 3));
    engine.apply(stored("GPU", null, TOKENS, 1, 2, 3));
    assertThat(router.log).containsExactly("+3 DEVICE", "+3 HOST_PINNED");
  }

  @Test
  void copiesUnderANameThatIsAnotherBlockAtTheOtherPublisherMoveToTheirOwn() {
    manager.apply(stored("DISK", null, new int[] {9, 9, 9, 9}, 1));
    engine.apply(copied("CPU", 1)); // taken for the manager's
    assertThat(router.in(StorageTier.HOST_PINNED)).hasSize(1).isNotEqualTo(names(1));
    engine.apply(stored("GPU", null, tokens(0, 1), 1));
    assertThat(router.in(StorageTier.HOST_PINNED)).isEqualTo(names(1));
    assertThat(router.in(StorageTier.DEVICE)).isEqualTo(names(1));
    assertThat(router.in(StorageTier.DISK)).hasSize(1);
    engine.apply(removed("CPU", 1));
    assertThat(router.in(StorageTier.HOST_PINNED)).isEmpty();
  }

  @Test
  void equalTokensUnderDifferentSaltsAreDifferentBlocks() {
    engine.apply(salted("GPU", null, tokens(0, 1), "tenant-a", 1));
    manager.apply(salted("GPU", null, tokens(0, 1), "tenant-b", 71));
    assertThat(router.in(StorageTier.DEVICE)).hasSize(2);
    manager.forget();
    assertThat(router.in(StorageTier.DEVICE)).hasSize(1);
  }

  @Test
  void aNameOfOnePublisherDoesNotHideThatOfTheOther() {
    engine.apply(stored("GPU", null, TOKENS, 1, 2, 3));
    var other = IntStream.range(100, 100 + 3 * BLOCK).toArray();
    manager.apply(stored("GPU", null, other, 1, 2, 3)); // the same names, other blocks
    manager.apply(removed("GPU", 3, 2, 1, 1));
    manager.apply(new EngineKvEvent.Cleared());
    manager.apply(removed("GPU", 3, 2, 1));
    assertThat(router.in(StorageTier.DEVICE)).isEqualTo(names(3));
    engine.apply(stored("GPU", 3L, tokens(3, 4), 4));
    assertThat(router.in(StorageTier.DEVICE)).hasSize(4);
  }

  @Test
  void aNameThatIsReusedLeavesItsOldBlock() {
    engine.apply(stored("GPU", null, TOKENS, 1, 2, 3));
    engine.apply(stored("CPU", null, TOKENS, 1, 2, 3));
    manager.apply(stored("CPU", null, TOKENS, 71, 72, 73));
    engine.apply(stored("GPU", null, IntStream.range(100, 104).toArray(), 3));
    assertThat(router.in(StorageTier.DEVICE)).hasSize(3).containsAll(names(2));
    assertThat(router.in(StorageTier.HOST_PINNED)).as("of the manager").isEqualTo(names(3));
    engine.apply(removed("CPU", 3));
    engine.apply(removed("GPU", 3));
    assertThat(router.in(StorageTier.DEVICE)).isEqualTo(names(2));
  }

  @Test
  void blocksOnTheDeviceGoWithTheirPredecessorAndComeBackWithIt() {
    engine.apply(stored("GPU", null, tokens(0, 1), 1));
    engine.apply(stored("GPU", 1L, tokens(1, 3), 2, 3));
    manager.apply(stored("CPU", null, tokens(0, 1), 71));
    manager.apply(stored("GPU", 71L, tokens(1, 3), 72, 73));
    engine.apply(removed("GPU", 3, 2, 1));
    assertThat(router.in(StorageTier.DEVICE)).as("nothing is left before them").isEmpty();
    manager.apply(removed("GPU", 73));
    engine.apply(stored("GPU", null, tokens(0, 1), 1));
    assertThat(router.in(StorageTier.DEVICE)).as("the manager's, too").isEqualTo(names(2));
    manager.apply(stored("GPU", 72L, tokens(2, 3), 73));
    engine.apply(stored("GPU", 1L, tokens(1, 3), 2, 3));
    engine.apply(removed("GPU", 3, 2));
    assertThat(router.in(StorageTier.DEVICE)).as("of the manager, too").isEqualTo(names(3));
  }

  @Test
  void aPublisherBeyondItsLimitTakesNoRoomOfTheOther() {
    for (int i = 0; i < 3 * LIMIT; i++) {
      manager.apply(copied("CPU", -1 - i));
      manager.apply(stored("CPU", null, new int[] {1000 + i, 1, 2, 3}, 1000 + i));
    }
    assertThat(router.in(StorageTier.HOST_PINNED)).hasSize(LIMIT / 2);
    var room = LongStream.rangeClosed(1, LIMIT).toArray();
    engine.apply(stored("GPU", null, tokens(0, LIMIT), room));
    engine.apply(stored("GPU", (long) LIMIT, tokens(LIMIT, LIMIT + 1), LIMIT + 1));
    assertThat(router.in(StorageTier.DEVICE)).hasSize(LIMIT);
    assertThat(merged.size()).isEqualTo(LIMIT / 2 + LIMIT);
  }

  @Test
  @Timeout(20)
  void manyClearsAfterManyBlocksTakeNoTime() {
    var large = new MergedBlocks(0, BLOCK, 1 << 20, router);
    var first = large.newEngine();
    var second = large.newManager();
    first.apply(stored("GPU", null, TOKENS, 1, 2, 3));
    second.apply(copied("CPU", LongStream.range(10, 1 << 20).toArray()));
    for (int i = 0; i < 100_000; i++) {
      second.apply(new EngineKvEvent.Cleared());
    }
    assertThat(router.log).containsExactly("+3 DEVICE");
  }

  /** The blocks that one publisher holds; children are stored after and removed before parents. */
  private static final class Publisher {
    private final EngineBlocks events;
    private final long firstName;
    private final boolean counted;
    private final Map<StorageTier, Map<List<Integer>, Integer>> held = new HashMap<>();

    Publisher(EngineBlocks events, long firstName, boolean counted) {
      this.events = events;
      this.firstName = firstName;
      this.counted = counted;
    }

    /** Returns the copies in a tier by the branches that lead to their block. */
    Map<List<Integer>, Integer> in(StorageTier tier) {
      return held.computeIfAbsent(tier, _ -> new HashMap<>());
    }

    private static String medium(StorageTier tier) {
      return switch (tier) {
        case DEVICE -> "GPU";
        case HOST_PINNED -> "CPU";
        case DISK -> "DISK";
        case EXTERNAL -> "REMOTE";
      };
    }

    private long name(List<Integer> path) {
      return firstName + path.hashCode();
    }

    private static int[] tokens(List<Integer> path) {
      return path.stream()
          .flatMapToInt(branch -> IntStream.range(0, BLOCK).map(i -> 10 * branch + i))
          .toArray();
    }

    void step(Random random) {
      var tier = TIERS.get(random.nextInt(TIERS.size()));
      var mine = in(tier);
      int kind = random.nextInt(40);
      if (kind == 0) {
        events.forget();
        held.clear();
      } else if (kind < 22) {
        var path = IntStream.range(0, 1 + random.nextInt(3)).mapToObj(_ -> random.nextInt(2));
        var blocks = path.toList();
        var names = new long[blocks.size()];
        for (int i = 0; i < names.length; i++) {
          var prefix = blocks.subList(0, i + 1);
          names[i] = name(prefix);
          mine.merge(List.copyOf(prefix), 1, (held, one) -> counted ? held + one : one);
        }
        events.apply(stored(medium(tier), null, tokens(blocks), names));
      } else {
        var leaf =
            mine.keySet().stream()
                .filter(
                    path ->
                        mine.entrySet().stream()
                            .noneMatch(
                                each ->
                                    each.getKey().size() > path.size()
                                        && each.getKey().subList(0, path.size()).equals(path)))
                .findFirst();
        leaf.ifPresent(
            path -> {
              events.apply(removed(medium(tier), name(path)));
              mine.computeIfPresent(path, (_, count) -> count > 1 ? count - 1 : null);
            });
      }
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 5, 8})
  void reportedBlocksAreThoseThatAnyPublisherHolds(long seed) {
    var random = new Random(seed);
    var publishers =
        List.of(new Publisher(engine, 0, true), new Publisher(manager, 1L << 40, false));
    for (int i = 0; i < 3000; i++) {
      publishers.get(random.nextInt(2)).step(random);
      for (var tier : StorageTier.values()) {
        var expected = new HashSet<SequenceHash>();
        for (var publisher : publishers) {
          for (var path : publisher.in(tier).keySet()) {
            var hasher = new SequenceHasher(BlockHasher.of(BLOCK));
            hasher.append(Publisher.tokens(path));
            expected.add(new SequenceHash(hasher.sequence(path.size() - 1)));
          }
        }
        assertThat(router.in(tier)).as("step %d, %s", i, tier).isEqualTo(expected);
      }
    }
  }

  @Test
  void publishersOnThreadsOfTheirOwnLeaveNothingBehind() throws Exception {
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var done = new ArrayList<Future<?>>();
      for (var publisher :
          List.of(new Publisher(engine, 0, true), new Publisher(manager, 1L << 40, false))) {
        done.add(
            threads.submit(
                () -> {
                  var random = new Random(publisher.firstName);
                  for (int i = 0; i < 20_000; i++) {
                    publisher.step(random);
                  }
                  publisher.events.forget();
                }));
      }
      for (var each : done) {
        each.get();
      }
    }
    assertThat(merged.size()).isZero();
    for (var tier : StorageTier.values()) {
      assertThat(router.in(tier)).isEmpty();
    }
  }
}
