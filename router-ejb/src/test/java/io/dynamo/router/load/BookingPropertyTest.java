package io.dynamo.router.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.discovery.InstanceId;
import io.dynamo.kv.WorkerRank;
import io.dynamo.token.BlockHashes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that the load booked for a request is freed exactly once, however it ends and however often
 * it is closed: after each step the account agrees with one that is summed up anew from the open
 * requests.
 */
class BookingPropertyTest {
  private static final int WORKERS = 3;
  private static final int RANKS = 2;
  private static final Duration EXPIRY = Duration.ofSeconds(100);

  private static final class Open {
    final Booking booking;
    final WorkerRank rank;
    final BlockHashes prompt;
    final int promptTokens;
    final long bookedAt;
    long toPrefill;
    int generated;

    Open(
        Booking booking,
        WorkerRank rank,
        BlockHashes prompt,
        int promptTokens,
        long toPrefill,
        long bookedAt) {
      this.booking = booking;
      this.rank = rank;
      this.prompt = prompt;
      this.promptTokens = promptTokens;
      this.toPrefill = toPrefill;
      this.bookedAt = bookedAt;
    }

    int outputBlocks() {
      return Math.ceilDiv(promptTokens + generated, 4) - Math.ceilDiv(promptTokens, 4);
    }
  }

  private final AtomicLong nanos = new AtomicLong();
  private final ActiveSequences active = new ActiveSequences(EXPIRY, nanos::get);
  private final List<WorkerRank> ranks =
      IntStream.range(0, WORKERS * RANKS)
          .mapToObj(i -> new WorkerRank(new InstanceId((long) i / RANKS), i % RANKS))
          .toList();
  private final List<Open> open = new ArrayList<>();
  private final List<Booking> ended = new ArrayList<>();

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 5, 8, 13, 21, 34})
  void bookedLoadIsReleasedExactlyOnce(long seed) {
    var random = new Random(seed);
    for (int step = 0; step < 3000; step++) {
      step(random);
      check("seed " + seed + ", step " + step);
    }
    List.copyOf(open).forEach(this::end);
    ended.forEach(Booking::close);
    check("at the end");
    assertThat(active.active()).isZero();
    for (var rank : ranks) {
      assertThat(active.prefillTokens(rank)).isZero();
      assertThat(active.blocks(rank)).isZero();
    }
  }

  private void step(Random random) {
    int what = open.isEmpty() ? 0 : random.nextInt(100);
    if (what < 40) {
      book(random);
    } else if (what < 55) { // the first token, perhaps reported twice
      var it = any(open, random);
      it.booking.prefillDone();
      it.toPrefill = 0;
    } else if (what < 70) {
      var it = any(open, random);
      int tokens = 1 + random.nextInt(9);
      it.booking.generated(tokens);
      it.generated += tokens;
    } else if (what < 85) { // finished, failed, cancelled or migrated: all close
      end(any(open, random));
    } else if (what < 93 && !ended.isEmpty()) { // calls on ended requests
      var it = any(ended, random);
      it.prefillDone();
      it.generated(100);
      it.close();
    } else if (what < 95) {
      lose(new InstanceId(random.nextInt(WORKERS)));
    } else {
      nanos.addAndGet(Duration.ofSeconds(random.nextInt(10)).toNanos());
    }
  }

  private static <T> T any(List<T> of, Random random) {
    return of.get(random.nextInt(of.size()));
  }

  private void book(Random random) {
    expire(); // leaked bookings are dropped before one is made
    int candidate = random.nextInt(ranks.size());
    int blocks = random.nextInt(6);
    var contents = new long[blocks];
    for (int i = 0; i < blocks; i++) {
      contents[i] = 1L + random.nextInt(2); // many share prefixes
    }
    var prompt = BlockHashes.ofBlocks(contents);
    long toPrefill = random.nextInt(50);
    int tokens = 4 * blocks + random.nextInt(4);
    var booking =
        Objects.requireNonNull(
                active.book(
                    ranks,
                    new Work("r", prompt, tokens, 4, true, null),
                    _ -> new ActiveSequences.RankChoice(candidate, toPrefill)))
            .booking();
    open.add(new Open(booking, ranks.get(candidate), prompt, tokens, toPrefill, nanos.get()));
  }

  private void expire() {
    for (var it : List.copyOf(open)) {
      if (nanos.get() - it.bookedAt >= EXPIRY.toNanos()) {
        open.remove(it);
        ended.add(it.booking);
      }
    }
  }

  private void end(Open it) {
    it.booking.close();
    open.remove(it);
    ended.add(it.booking);
  }

  private void lose(InstanceId worker) {
    var left = new HashSet<InstanceId>();
    ranks.forEach(rank -> left.add(rank.worker()));
    left.remove(worker);
    active.keep(left);
    for (var it : List.copyOf(open)) {
      if (it.rank.worker().equals(worker)) {
        open.remove(it);
        ended.add(it.booking);
      }
    }
  }

  private void check(String when) {
    assertThat(active.active()).as(when).isEqualTo(open.size());
    for (var rank : ranks) {
      long prefill = 0;
      int outputs = 0;
      var distinct = new HashSet<Long>();
      for (var it : open) {
        if (it.rank.equals(rank)) {
          prefill += it.toPrefill;
          outputs += it.outputBlocks();
          for (int i = 0; i < it.prompt.length(); i++) {
            distinct.add(it.prompt.sequence(i));
          }
        }
      }
      assertThat(active.prefillTokens(rank)).as("%s, prefill of %s", when, rank).isEqualTo(prefill);
      assertThat(active.blocks(rank))
          .as("%s, blocks of %s", when, rank)
          .isEqualTo(distinct.size() + outputs);
    }
  }

  @Test
  void closedByManyAtOnceItIsFreedOnce() throws InterruptedException {
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int round = 0; round < 200; round++) {
        var prompt = BlockHashes.ofBlocks(1, 2, 3);
        var stays = active.book(ranks, prompt, _ -> new ActiveSequences.RankChoice(0, 7));
        var goes = active.book(ranks, prompt, _ -> new ActiveSequences.RankChoice(0, 5));
        var done = new CountDownLatch(8);
        for (int i = 0; i < 8; i++) {
          threads.execute(
              () -> {
                goes.prefillDone();
                goes.close();
                done.countDown();
              });
        }
        done.await();
        assertThat(active.prefillTokens(ranks.getFirst())).isEqualTo(7);
        assertThat(active.blocks(ranks.getFirst())).isEqualTo(3);
        stays.close();
        assertThat(active.active()).isZero();
      }
    }
  }

  @Test
  void blocksFadeWithTheExpectedOutputWhereNobodySharesThem() {
    var contents = IntStream.rangeClosed(1, 8).mapToLong(i -> i).toArray();
    var alone =
        Objects.requireNonNull(
                active.book(
                    ranks,
                    new Work("r", BlockHashes.ofBlocks(contents), 32, 4, true, 16),
                    _ -> new ActiveSequences.RankChoice(0, 0)))
            .booking();
    var rank = ranks.getFirst();
    alone.generated(8);
    assertThat(active.blocks(rank)).as("10 blocks at one half").isEqualTo(5);
    var shares =
        active.book(
            ranks, BlockHashes.ofBlocks(1, 2, 3, 4), _ -> new ActiveSequences.RankChoice(0, 0));
    assertThat(active.blocks(rank)).as("4 shared whole, 6 at one half").isEqualTo(7);
    alone.generated(8);
    assertThat(active.blocks(rank)).as("only what is shared counts").isEqualTo(4);
    alone.close();
    assertThat(active.blocks(rank)).isEqualTo(4);
    shares.close();
    assertThat(active.blocks(rank)).isZero();
  }

  @Test
  void reliefIsReportedWhenThereIsLessToPrefill() {
    var reliefs = new AtomicLong();
    active.onRelief(reliefs::incrementAndGet);
    var booking =
        active.book(ranks, BlockHashes.ofBlocks(1), _ -> new ActiveSequences.RankChoice(0, 5));
    assertThat(reliefs).hasValue(0);
    booking.prefillDone();
    assertThat(reliefs).hasValue(1);
    booking.prefillDone();
    assertThat(reliefs).hasValue(1);
    booking.close();
    assertThat(reliefs).hasValue(2);
    booking.close();
    assertThat(reliefs).hasValue(2);
    active.keep(Set.of());
    assertThat(reliefs).hasValue(3);
  }
}
