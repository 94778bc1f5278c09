package io.dynamo.frontend.media;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.model.CardMedia;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class MediaCacheTest {
  private static final int SIZE = 10_000;

  private final AtomicLong nanos = new AtomicLong();
  private final MediaCache cache = new MediaCache(8 * SIZE, nanos::get);

  private static MediaFetcher.Fetched file(int bytes, long seconds) {
    return new MediaFetcher.Fetched(new byte[bytes], "image/png", seconds);
  }

  private static MediaCache.Key key(String url) {
    return new MediaCache.Key(
        MediaKind.IMAGE, url, FetchRules.of(MediaFixture.SETTINGS, CardMedia.NONE));
  }

  @Test
  void filesAreKeptForAsLongAsTheirServerSays() {
    cache.put(key("a"), file(SIZE, 60));

    assertThat(cache.get(key("a"))).isNotNull();
    nanos.set(60_000_000_000L - 1);
    assertThat(cache.get(key("a"))).isNotNull();
    nanos.set(60_000_000_000L);
    assertThat(cache.get(key("a"))).isNull();
    assertThat(cache.bytes()).isZero();
  }

  @Test
  void filesThatMustNotBeKeptAreNot() {
    cache.put(key("a"), file(SIZE, 0));

    assertThat(cache.get(key("a"))).isNull();
  }

  @Test
  void theFilesUsedLastStayWithinTheBound() {
    for (int i = 0; i < 100; i++) {
      cache.put(key("file" + i), file(SIZE, 60));
      cache.get(key("file0"));
      assertThat(cache.bytes()).isLessThanOrEqualTo(8L * SIZE);
    }

    assertThat(cache.get(key("file0"))).isNotNull();
    assertThat(cache.get(key("file99"))).isNotNull();
    assertThat(cache.get(key("file50"))).isNull();
    assertThat(cache.size()).isEqualTo(7);
  }

  @Test
  void aFileIsKeptOnce() {
    for (int i = 0; i < 10; i++) {
      cache.put(key("a"), file(SIZE, 60));
    }

    assertThat(cache.size()).isEqualTo(1);
    assertThat(cache.bytes()).isBetween((long) SIZE, SIZE + 1000L);
  }

  @Test
  void oneFileDoesNotDriveOutTheOthers() {
    cache.put(key("a"), file(SIZE, 60));
    cache.put(key("large"), file(3 * SIZE, 60));

    assertThat(cache.get(key("large"))).isNull();
    assertThat(cache.get(key("a"))).isNotNull();
  }

  @Test
  void nothingIsKeptWithoutRoom() {
    var none = new MediaCache(0, nanos::get);
    none.put(key("a"), file(0, 60));

    assertThat(none.get(key("a"))).isNull();
  }
}
