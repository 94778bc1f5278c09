package io.dynamo.config.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HeapShareTest {
  @ParameterizedTest
  @ValueSource(longs = {256L << 20, 512L << 20, 1L << 30, 64L << 30})
  void theAreasLeaveThreeSixteenthsOfTheHeapForTheRest(long heapBytes) {
    long all = Arrays.stream(HeapShare.values()).mapToLong(share -> share.of(heapBytes)).sum();
    assertThat(all).isLessThanOrEqualTo(heapBytes / 16 * 13);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 63, 64, 1L << 30})
  void theHeapForSomeBytesIsTheSmallestThatHasThem(long bytes) {
    for (var share : HeapShare.values()) {
      long heap = share.heapFor(bytes);
      assertThat(share.of(heap)).isGreaterThanOrEqualTo(bytes);
      assertThat(share.of(heap - 16)).isLessThan(bytes);
    }
  }

  @Test
  void aServerWithoutAFrontendHasMoreForReceivedRequests() {
    assertThat(HeapShare.receivedRequests(true)).isEqualTo(HeapShare.RECEIVED_REQUESTS.bytes());
    assertThat(HeapShare.receivedRequests(false))
        .isEqualTo(HeapShare.RECEIVED_REQUESTS.bytes() + HeapShare.REQUESTS_AT_WORK.bytes());
  }

  @ParameterizedTest
  @ValueSource(longs = {512L << 20, 1L << 30})
  void noAreaIsEmpty(long heapBytes) {
    assertThat(HeapShare.values()).allMatch(share -> share.of(heapBytes) >= heapBytes / 16);
  }
}
