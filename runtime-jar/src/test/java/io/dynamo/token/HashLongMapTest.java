package io.dynamo.token;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HashLongMapTest {
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 5, 8}) // the seed names the failing run
  void agreesWithTheMapOfTheJdk(long seed) {
    var random = new Random(seed);
    var oracle = new HashMap<Long, Long>();
    var map = new HashLongMap();
    for (int step = 0; step < 20_000; step++) {
      long key = random.nextInt(300) * (random.nextBoolean() ? 1L : 0x9E3779B97F4A7C15L);
      if (random.nextInt(5) < 3) {
        map.put(key, step);
        oracle.put(key, (long) step);
      } else {
        map.remove(key);
        oracle.remove(key);
      }
      long probe = random.nextInt(300);
      assertThat(map.getOrDefault(probe, -1)).isEqualTo(oracle.getOrDefault(probe, -1L));
      assertThat(map.contains(key)).isEqualTo(oracle.containsKey(key));
      assertThat(map.size()).isEqualTo(oracle.size());
    }
    oracle.forEach((key, value) -> assertThat(map.getOrDefault(key, -1)).isEqualTo(value));
  }
}
