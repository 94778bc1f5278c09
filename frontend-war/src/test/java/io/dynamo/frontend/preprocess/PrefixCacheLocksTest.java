package io.dynamo.frontend.preprocess;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.metrics.Metrics;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class PrefixCacheLocksTest {
  private static final int PARTS = 512;
  private static final int[] IDS = {1};

  /**
   * One that is compared for long, as long texts are, keeps those of other shelves from nothing.
   */
  @Test
  @Timeout(60)
  void partThatIsLookedForDoesNotHoldUpAllOthers() throws InterruptedException {
    var cache = new PrefixCache(64 << 20, new Metrics());
    var owner = new Object();
    var parts = IntStream.range(0, PARTS).mapToObj(String::valueOf).toList();
    var compared = new CountDownLatch(1);
    var othersFound = new CountDownLatch(PARTS / 2);
    var slow =
        new Object() {
          @Override
          public boolean equals(Object other) {
            compared.countDown();
            try {
              return othersFound.await(1, TimeUnit.MINUTES);
            } catch (InterruptedException e) {
              return false;
            }
          }

          @Override
          public int hashCode() {
            return owner.hashCode();
          }
        };
    parts.forEach(part -> cache.keep(owner, part, IDS));
    var looking = Thread.startVirtualThread(() -> cache.find(slow, parts.getFirst()));
    assertThat(compared.await(1, TimeUnit.MINUTES)).isTrue();
    for (var part : parts) {
      Thread.startVirtualThread(
          () -> {
            cache.find(owner, part);
            othersFound.countDown();
          });
    }
    assertThat(othersFound.await(20, TimeUnit.SECONDS)).isTrue();
    looking.join();
  }
}
