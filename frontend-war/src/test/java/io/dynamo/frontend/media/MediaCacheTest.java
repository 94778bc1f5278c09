package io.dynamo.frontend.media;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class MediaCacheTest {
  private static final int SIZE = 10_000;

  private final AtomicLong nanos = new AtomicLong();
  private final MediaCache cache = new MediaCache(8 * SIZE, nanos::get);

  private static MediaFetcher.Fetched file(int bytes, long seconds) {
    return new MediaFetcher.Fetched(new byte[bytes], "image/png", seconds);
  }

  @Test
  void filesAreKeptForAsLongAsTheirServerSays() {
    cache.put("a", file(SIZE, 60));

    assertThat(cache.get("a")).isNotNull();
    nanos.set(60_000_000_000L - 1);
    assertThat(cache.get("a")).isNotNull();
    nanos.set(60_000_000_000L);
    assertThat(cache.get("a")).isNull();
    assertThat(cache.bytes()).isZero();
  }

  @Test
  void filesThatMustNotBeKeptAreNot() {
    cache.put("a", file(SIZE, 0));

    assertThat(cache.get("a")).isNull();
  }

  @Test
  void theFilesUsedLastStayWithinTheBound() {
    for (int i = 0; i < 100; i++) {
      cache.put("file" + i, file(SIZE, 60));
      cache.get("file0");
      assertThat(cache.bytes()).isLessThanOrEqualTo(8L * SIZE);
    }

    assertThat(cache.get("file0")).isNotNull();
    assertThat(cache.get("file99")).isNotNull();
    assertThat(cache.get("file50")).isNull();
    assertThat(cache.size()).isEqualTo(7);
  }

  @Test
  void aFileIsKeptOnce() {
    for (int i = 0; i < 10; i++) {
      cache.put("a", file(SIZE, 60));
    }

    assertThat(cache.size()).isEqualTo(1);
    assertThat(cache.bytes()).isBetween((long) SIZE, SIZE + 1000L);
  }

  @Test
  void oneFileDoesNotDriveOutTheOthers() {
    cache.put("a", file(SIZE, 60));
    cache.put("large", file(3 * SIZE, 60));

    assertThat(cache.get("large")).isNull();
    assertThat(cache.get("a")).isNotNull();
  }

  @Test
  void nothingIsKeptWithoutRoom() {
    var none = new MediaCache(0, nanos::get);
    none.put("a", file(0, 60));

    assertThat(none.get("a")).isNull();
  }
}
