package io.dynamo.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class StartBannerTest {
  @Test
  void theTextIsPrintedOnceAndOnlyWhenThereIsOne() throws Exception {
    var printed = new ByteArrayOutputStream();
    var looks = new AtomicInteger();
    var ready = new CountDownLatch(1);
    try (var timer = Executors.newSingleThreadScheduledExecutor();
        var console =
            new PrintStream(printed, true, StandardCharsets.UTF_8) {
              @Override
              public void println(String line) {
                super.println(line);
                ready.countDown();
              }
            }) {
      var banner =
          new StartBanner(() -> looks.incrementAndGet() < 3 ? null : "serves", timer, console);
      assertThat(ready.await(30, TimeUnit.SECONDS)).isTrue();
      banner.cancel();
    }
    assertThat(looks.get()).isEqualTo(3);
    assertThat(printed.toString(StandardCharsets.UTF_8).lines()).containsExactly("serves");
  }
}
