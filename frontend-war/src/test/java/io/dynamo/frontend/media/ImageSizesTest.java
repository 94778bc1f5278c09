package io.dynamo.frontend.media;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class ImageSizesTest {
  @Test
  void sizesBelongToUrlsAndNotToTheirHashes() {
    var clock = new AtomicLong();
    var sizes = new ImageSizes(clock::get);
    var one = new MeasuredImage(7, 1, 2);
    var other = new MeasuredImage(7, 3, 4); // of the same hash
    sizes.put("http://a/", one);
    sizes.put("http://b/", other);

    assertThat(sizes.get("http://a/")).isEqualTo(one);
    assertThat(sizes.get("http://b/")).isEqualTo(other);
    assertThat(sizes.get("http://c/")).isNull();
    clock.set(TimeUnit.HOURS.toNanos(1));
    assertThat(sizes.get("http://a/")).isNull();
  }
}
