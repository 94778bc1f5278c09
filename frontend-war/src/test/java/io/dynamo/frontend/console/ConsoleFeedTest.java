package io.dynamo.frontend.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class ConsoleFeedTest {
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final AtomicInteger samplers = new AtomicInteger();
  private final AtomicInteger samples = new AtomicInteger();
  private final Semaphore permits = new Semaphore(0); // to sample
  private final Semaphore ended = new Semaphore(0); // samplers
  private boolean fails;

  private final ConsoleFeed feed = new ConsoleFeed(threads, PlayedSampler::new, 1);

  private final class PlayedSampler implements ConsoleFeed.Sampler {
    PlayedSampler() {
      samplers.incrementAndGet();
    }

    @Override
    public Map<String, @Nullable Object> sample() {
      permits.acquireUninterruptibly();
      if (fails) {
        throw new IllegalStateException("a meter fails");
      }
      int number = samples.incrementAndGet();
      var sample = new LinkedHashMap<String, @Nullable Object>();
      sample.put("at", number);
      sample.put("totals", Map.of("requests", number));
      return sample;
    }

    @Override
    public void close() {
      ended.release();
    }
  }

  @AfterEach
  void stop() {
    feed.close();
    permits.release(1_000_000);
    threads.close();
  }

  private ConsoleFeed.Listener open() {
    var listener = feed.open();
    return Objects.requireNonNull(listener, "there is room for a page");
  }

  private static String next(ConsoleFeed.Listener listener) throws InterruptedException {
    var event = listener.next();
    assertThat(event).isNotNull();
    return new String(event, StandardCharsets.UTF_8);
  }

  private void awaitEnd() throws InterruptedException {
    assertThat(ended.tryAcquire(10, TimeUnit.SECONDS)).as("sampling ends").isTrue();
  }

  @Test
  void nothingIsSampledUntilAPageIsOpenAndAfterTheLastHasClosed() throws Exception {
    assertThat(samplers).hasValue(0);
    try (var one = open();
        var other = open()) {
      permits.release();
      assertThat(next(one)).startsWith("event: history\n");
      assertThat(next(one))
          .isEqualTo("event: sample\ndata: {\"at\":1,\"totals\":{\"requests\":1}}\n\n");
      next(other);
      assertThat(next(other)).as("the same sample").contains("\"requests\":1");
      assertThat(samplers).as("one for all pages").hasValue(1);
    }
    permits.release(); // for a sample under way
    awaitEnd();
    try (var again = open()) {
      permits.release();
      next(again);
      next(again);
      assertThat(samplers).hasValue(2);
    }
  }

  @Test
  void aPageThatComesLaterGetsTheHistoryOfTotals() throws Exception {
    try (var first = open()) {
      permits.release();
      next(first);
      next(first);
      try (var second = open()) {
        assertThat(next(second))
            .contains("\"names\":[\"at\",\"requests\"]")
            .contains("\"rows\":[[1,1]]");
      }
    }
  }

  @Test
  void aPageThatReadsSlowlyGetsTheNewestSampleOnly() throws Exception {
    try (var slow = open();
        var quick = open()) {
      next(slow);
      next(quick);
      for (int i = 1; i <= 3; i++) {
        permits.release();
        assertThat(next(quick)).contains("\"requests\":" + i);
      }
      assertThat(next(slow)).contains("\"requests\":3");
    }
  }

  @Test
  void onePageMoreThanTheBoundIsRefusedUntilAnotherCloses() {
    var open = new ArrayList<ConsoleFeed.Listener>();
    for (int i = 0; i < ConsoleFeed.MOST_LISTENERS; i++) {
      open.add(open());
    }
    assertThat(feed.open()).isNull();
    open.getFirst().close();
    open.getFirst().close(); // a second time frees no second place
    try (var one = open()) {
      assertThat(one).isNotNull();
      assertThat(feed.open()).isNull();
    }
    open.forEach(ConsoleFeed.Listener::close);
  }

  @Test
  void closingTheFeedEndsItsPagesAndRefusesNewOnes() throws Exception {
    try (var listener = open()) {
      next(listener);
      feed.close();
      permits.release();
      awaitEnd();
      assertThat(listener.next()).isNull();
      assertThat(feed.open()).isNull();
    }
  }

  @Test
  void aFailedSampleEndsThePagesAndTheNextOneStartsAgain() throws Exception {
    try (var listener = open()) {
      next(listener);
      fails = true;
      permits.release();
      assertThat(listener.next()).isNull();
      awaitEnd();
    }
    fails = false;
    try (var again = open()) {
      permits.release();
      next(again);
      assertThat(next(again)).contains("sample");
    }
  }
}
