package io.dynamo.router.index;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SharedLongMapTest {
  private static final long MIXER = 0x9E3779B97F4A7C15L;

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 5, 8}) // the seed names the failing run
  void agreesWithTheMapOfTheJdk(long seed) {
    var random = new Random(seed);
    var oracle = new HashMap<Long, Long>();
    var map = new SharedLongMap();
    for (int step = 0; step < 20_000; step++) {
      long key = random.nextInt(300) * (random.nextBoolean() ? 1L : MIXER);
      if (random.nextInt(5) < 3) {
        map.put(key, step);
        oracle.put(key, (long) step);
      } else {
        map.remove(key);
        oracle.remove(key);
      }
      long probe = random.nextInt(300);
      assertThat(map.get(probe)).isEqualTo(oracle.getOrDefault(probe, SharedLongMap.ABSENT));
      assertThat(map.get(key)).isEqualTo(oracle.getOrDefault(key, SharedLongMap.ABSENT));
    }
    oracle.forEach((key, value) -> assertThat(map.get(key)).isEqualTo(value));
  }

  @Test
  void entriesThatStayAreFoundWhileOthersComeAndGo() throws Exception {
    var map = new SharedLongMap();
    for (long key = 1; key <= 8; key++) {
      map.put(key * MIXER, -key);
    }
    var written = new AtomicBoolean();
    var reader =
        CompletableFuture.supplyAsync(
            () -> {
              long wrong = 0;
              while (!written.get()) {
                for (long key = 1; key <= 8; key++) {
                  wrong += map.get(key * MIXER) == -key ? 0 : 1;
                  long churned = map.get(100 + key);
                  wrong += churned == SharedLongMap.ABSENT || churned == 7 * (100 + key) ? 0 : 1;
                }
              }
              return wrong;
            });
    try {
      for (int round = 0; round < 3000; round++) { // through many rebuilds
        for (long key = 0; key < 200; key++) {
          map.put(key, 7 * key);
        }
        for (long key = 0; key < 200; key++) {
          map.remove(key);
        }
      }
    } finally {
      written.set(true);
    }
    assertThat(reader.get()).isZero();
  }
}
