package io.dynamo.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HeapShareTest {
  @ParameterizedTest
  @ValueSource(longs = {256L << 20, 512L << 20, 1L << 30, 64L << 30})
  void theAreasLeaveAQuarterOfTheHeapForTheRest(long heapBytes) {
    long all = Arrays.stream(HeapShare.values()).mapToLong(share -> share.of(heapBytes)).sum();
    assertThat(all).isLessThanOrEqualTo(heapBytes / 4 * 3);
  }

  @ParameterizedTest
  @ValueSource(longs = {512L << 20, 1L << 30})
  void noAreaIsEmpty(long heapBytes) {
    assertThat(HeapShare.values()).allMatch(share -> share.of(heapBytes) >= heapBytes / 16);
  }
}
