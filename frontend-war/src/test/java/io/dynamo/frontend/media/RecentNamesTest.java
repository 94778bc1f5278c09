package io.dynamo.frontend.media;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class RecentNamesTest {
  private final AtomicLong clock = new AtomicLong();
  private final RecentNames names = new RecentNames(Duration.ofNanos(10), clock::get);

  @Test
  void namesAreForgottenInTime() {
    names.add("a");
    clock.set(9);
    assertThat(names.has("a")).isTrue();
    names.add("a");
    clock.set(18);
    assertThat(names.has("a")).isTrue();
    clock.set(19);
    assertThat(names.has("a")).isFalse();
  }

  @Test
  void theNumberOfNamesIsBounded() {
    for (int i = 0; i <= 4096; i++) {
      names.add("name" + i);
    }

    assertThat(names.has("name0")).isFalse();
    assertThat(names.has("name1")).isTrue();
    names.remove("name1");
    assertThat(names.has("name1")).isFalse();
  }
}
