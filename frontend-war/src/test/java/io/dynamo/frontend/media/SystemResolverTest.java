package io.dynamo.frontend.media;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dynamo.concurrent.Deadline;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Lookups of names whose servers do not answer: those that begin with "slow". */
@Timeout(60)
class SystemResolverTest {
  private static final Duration LONG = Duration.ofMinutes(10); // longer than the test may take
  private static final Duration SHORT = Duration.ofMillis(100);
  private static final InetAddress ADDRESS = InetAddress.getLoopbackAddress();

  private final CountDownLatch answered = new CountDownLatch(1);
  private final LinkedBlockingQueue<String> lookups = new LinkedBlockingQueue<>();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

  @AfterEach
  void stop() {
    answered.countDown();
    threads.shutdownNow();
  }

  private InetAddress[] addresses(String host) throws UnknownHostException {
    lookups.add(host);
    if (host.startsWith("slow")) {
      try {
        answered.await();
      } catch (InterruptedException e) {
        throw new UnknownHostException(host);
      }
    }
    if (host.startsWith("no")) {
      throw new UnknownHostException(host);
    }
    return new InetAddress[] {ADDRESS};
  }

  private SystemResolver resolver(int lookups, Duration slow) {
    return new SystemResolver(this::addresses, lookups, slow);
  }

  private Future<List<InetAddress>> begin(Callable<List<InetAddress>> lookup) throws Exception {
    var begun = threads.submit(lookup);
    assertThat(lookups.poll(30, TimeUnit.SECONDS)).isNotNull();
    return begun;
  }

  @Test
  void namesAreLookedUp() throws Exception {
    try (var resolver = resolver(1, LONG)) {
      assertThat(resolver.resolve("media.example", LONG)).containsExactly(ADDRESS);
      assertThat(resolver.resolve("none.example", LONG)).isEmpty();
    }
  }

  @Test
  void slowNamesOfOneDomainLeaveRoomForOthers() throws Exception {
    try (var resolver = resolver(8, LONG)) { // one for each domain
      var _ = begin(() -> resolver.resolve("slow1.evil.example", LONG));

      assertThat(resolver.resolve("slow2.evil.example", SHORT)).isEmpty();
      assertThat(lookups).as("it waited for the first").isEmpty();
      assertThat(resolver.resolve("media.example", LONG)).containsExactly(ADDRESS);
    }
  }

  @Test
  void callersOfOneNameShareItsLookup() throws Exception {
    try (var resolver = resolver(1, LONG)) {
      var first = begin(() -> resolver.resolve("slow.example", LONG));
      assertThat(resolver.resolve("slow.example", SHORT)).isEmpty();
      answered.countDown();

      assertThat(first.get(30, TimeUnit.SECONDS)).containsExactly(ADDRESS);
      assertThat(lookups).isEmpty();
    }
  }

  @Test
  void tooManyLookupsAreAnOverload() throws Exception {
    try (var resolver = resolver(2, LONG)) {
      var _ = begin(() -> resolver.resolve("slow.a.example", LONG));
      var _ = begin(() -> resolver.resolve("slow.b.test", LONG));

      assertThatExceptionOfType(MediaException.class)
          .isThrownBy(() -> resolver.resolve("media.example.org", LONG))
          .satisfies(e -> assertThat(e.reason()).isEqualTo(MediaException.Reason.OVERLOADED));
    }
  }

  @Test
  void slowNamesAreLeftAloneUntilTheyAnswer() throws Exception {
    try (var resolver = resolver(8, Duration.ZERO)) {
      assertThat(resolver.resolve("slow.example", SHORT)).isEmpty();
      assertThat(resolver.resolve("slow.example", LONG)).as("at once").isEmpty();
      answered.countDown();

      var limit = Deadline.after(Duration.ofSeconds(30));
      while (resolver.resolve("slow.example", LONG).isEmpty()) {
        assertThat(limit.isExpired()).isFalse();
        Thread.onSpinWait();
      }
    }
  }
}
