package io.dynamo.router.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.kv.ObjectEvent;
import io.dynamo.kv.ObjectEvent.Medium;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class PageIndexTest {
  private static final List<String> HASHES =
      IntStream.range(0, 6).mapToObj(i -> "%064x".formatted(0x1234567L * (i + 1))).toList();

  /** A layout with enough objects for several words of bits. */
  private static final HicacheLayout WIDE =
      new HicacheLayout(
          16, false, "p_", IntStream.range(0, 70).mapToObj(i -> "_" + i + "_k").toList());

  private static final HicacheLayout NARROW =
      new HicacheLayout(16, false, "", List.of("_0_k", "_0_v"));

  private record Copy(String key, Medium medium) {}

  private static PageHash page(String hash) {
    return new PageHash(
        Long.parseUnsignedLong(hash.substring(0, 16), 16),
        Long.parseUnsignedLong(hash.substring(16, 32), 16));
  }

  private static ObjectEvent stored(String key) {
    return new ObjectEvent.Stored("default", key, Medium.MEMORY);
  }

  /** Returns hashes that are distinct in their first halves. */
  private static List<String> hashes() {
    return HASHES.stream().map(hash -> new StringBuilder(hash).reverse().toString()).toList();
  }

  @RepeatedTest(20)
  void aPageIsHeldWhenEachOfItsObjectsHasACopy(RepetitionInfo repetition) {
    var random = new Random(repetition.getCurrentRepetition());
    var layout = random.nextBoolean() ? WIDE : NARROW;
    var index = new PageIndex(layout);
    var copies = new HashSet<Copy>(); // the reference
    var hashes = hashes();
    for (int step = 0; step < 3000; step++) {
      var hash = hashes.get(random.nextInt(hashes.size()));
      var key =
          layout.prefix() + hash + layout.suffixes().get(random.nextInt(layout.suffixes().size()));
      var medium = random.nextBoolean() ? Medium.MEMORY : Medium.DISK;
      int kind = random.nextInt(400);
      switch (kind < 9 || kind >= 40 ? kind : 9) {
        case 0 -> {
          index.apply(new ObjectEvent.Cleared("default"));
          copies.clear();
        }
        case 1, 2 -> {
          index.apply(new ObjectEvent.Removed("default", key, null));
          copies.removeIf(copy -> copy.key.equals(key));
        }
        case 3, 4 -> index.apply(new ObjectEvent.Cleared("another"));
        case 5, 6 -> index.apply(new ObjectEvent.Stored("another", key, medium));
        case 7, 8 -> index.apply(new ObjectEvent.Removed("another", key, medium));
        case 9 -> {
          index.apply(new ObjectEvent.Removed("default", key, medium));
          copies.remove(new Copy(key, medium));
        }
        default -> {
          assertThat(index.apply(new ObjectEvent.Stored("default", key, medium))).isTrue();
          copies.add(new Copy(key, medium));
        }
      }
      boolean naive =
          layout.suffixes().stream()
              .allMatch(
                  suffix -> {
                    var object = layout.prefix() + hash + suffix;
                    return copies.contains(new Copy(object, Medium.MEMORY))
                        || copies.contains(new Copy(object, Medium.DISK));
                  });
      assertThat(index.holds(page(hash))).as("step %d", step).isEqualTo(naive);
    }
    long known =
        hashes.stream()
            .filter(hash -> copies.stream().anyMatch(copy -> copy.key.contains(hash)))
            .count();
    assertThat(index.size()).isEqualTo((int) known);
    assertThat(index.isEmpty()).isEqualTo(known == 0);
  }

  @Test
  void pagesBeyondTheCapacityAreIgnoredAndKnownOnesStay() {
    var index = new PageIndex(NARROW, 2);
    var hashes = new ArrayList<>(hashes());
    for (var hash : hashes.subList(0, 2)) {
      assertThat(index.apply(stored(hash + "_0_k"))).isTrue();
    }
    assertThat(index.apply(stored(hashes.get(2) + "_0_k"))).isFalse();
    assertThat(index.apply(stored(hashes.get(2) + "_0_v"))).isFalse();
    assertThat(index.apply(stored(hashes.get(0) + "_0_v"))).as("of a page that is known").isTrue();
    assertThat(index.holds(page(hashes.get(0)))).isTrue();
    assertThat(index.holds(page(hashes.get(2)))).isFalse();
    assertThat(index.size()).isEqualTo(2);
    assertThat(index.apply(new ObjectEvent.Removed("default", hashes.get(1) + "_0_k", null)))
        .isTrue();
    assertThat(index.apply(stored(hashes.get(2) + "_0_k"))).as("there is room again").isTrue();
  }
}
