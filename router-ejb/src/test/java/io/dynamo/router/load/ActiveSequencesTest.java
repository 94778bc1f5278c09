package io.dynamo.router.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.discovery.InstanceId;
import io.dynamo.kv.WorkerRank;
import io.dynamo.token.BlockHashes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class ActiveSequencesTest {
  private static final List<WorkerRank> RANKS =
      List.of(new WorkerRank(new InstanceId(1), 0), new WorkerRank(new InstanceId(2), 0));

  private final AtomicLong nanos = new AtomicLong();
  private final ActiveSequences active = new ActiveSequences(Duration.ofMinutes(5), nanos::get);

  private Booking book(int candidate, long tokensToPrefill, long... prompt) {
    return active.book(
        RANKS,
        BlockHashes.ofBlocks(prompt),
        _ -> new ActiveSequences.RankChoice(candidate, tokensToPrefill));
  }

  /** Returns the loads that a chooser sees for {@code prompt}; leaves no booking. */
  private RankLoads look(long... prompt) {
    var seen = new ArrayList<RankLoads>();
    active
        .book(
            RANKS,
            BlockHashes.ofBlocks(prompt),
            loads -> {
              seen.add(loads);
              return new ActiveSequences.RankChoice(1, 0);
            })
        .close();
    return seen.getFirst();
  }

  @Test
  void sharedPromptBlocksCountOncePerRank() {
    book(0, 0, 1, 2, 3);
    book(0, 0, 1, 2, 4, 5);
    var loads = look(1, 2, 4, 9);
    assertThat(loads.blocks()).containsExactly(5, 0);
    assertThat(loads.addedBlocks()).containsExactly(1, 4);
    assertThat(loads.requests()).containsExactly(2, 0);
  }

  @Test
  void blocksStayUntilTheirLastRequestIsFreed() {
    var first = book(0, 0, 1, 2, 3);
    var second = book(0, 0, 1, 2);
    first.close();
    assertThat(look(1, 2, 3).blocks()).containsExactly(2, 0);
    second.close();
    assertThat(look(1, 2, 3).blocks()).containsExactly(0, 0);
  }

  @Test
  void prefillTokensLeaveAtTheFirstToken() {
    var booking = book(0, 40, 1, 2);
    book(0, 7);
    assertThat(look().prefillTokens()).containsExactly(47, 0);
    booking.prefillDone();
    booking.prefillDone();
    assertThat(look().prefillTokens()).containsExactly(7, 0);
    assertThat(look().blocks()).containsExactly(2, 0);
  }

  @Test
  void everythingIsFreedExactlyOnce() {
    var booking = book(0, 40, 1, 2);
    var other = book(0, 5, 1, 2);
    booking.close();
    booking.close();
    booking.prefillDone();
    var loads = look();
    assertThat(loads.prefillTokens()).containsExactly(5, 0);
    assertThat(loads.blocks()).containsExactly(2, 0);
    assertThat(loads.requests()).containsExactly(1, 0);
    assertThat(active.active()).isEqualTo(1);
    other.close();
    assertThat(active.active()).isZero();
  }

  @Test
  void aLeakedBookingExpires() {
    var leaked = book(0, 40, 1, 2);
    nanos.set(Duration.ofSeconds(299).toNanos());
    assertThat(look().blocks()).containsExactly(2, 0);
    nanos.set(Duration.ofMinutes(5).toNanos());
    assertThat(look().blocks()).containsExactly(0, 0);
    book(0, 0, 1, 2);
    leaked.close();
    assertThat(look().blocks()).containsExactly(2, 0);
    assertThat(active.active()).isEqualTo(1);
  }
}
