package io.dynamo.router.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.discovery.InstanceId;
import io.dynamo.kv.SessionBinding;
import io.dynamo.kv.WorkerRank;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class SessionTableTest {
  private static final Duration TTL = Duration.ofSeconds(60);
  private static final InstanceId SELF = new InstanceId(0xa);
  private static final InstanceId OTHER = new InstanceId(0xb);
  private static final WorkerRank ONE = new WorkerRank(new InstanceId(1), 0);
  private static final WorkerRank TWO = new WorkerRank(new InstanceId(2), 3);

  private final AtomicLong nanos = new AtomicLong();
  private final AtomicLong wall = new AtomicLong(1_000);
  private final SessionTable table = table(3);
  private final List<SessionBinding> updates = new ArrayList<>();

  private SessionTable table(int capacity) {
    return new SessionTable(TTL, capacity, SELF, nanos::get, wall::get);
  }

  private SessionTable.Lease use(String id, WorkerRank rank) {
    return Objects.requireNonNull(table.lease(id, rank, table.target(id)));
  }

  private static SessionBinding binding(String id, WorkerRank rank, long sequence) {
    return new SessionBinding(id, rank.worker(), rank.rank(), sequence, OTHER);
  }

  private static @Nullable SessionTarget at(@Nullable WorkerRank rank) {
    return rank == null ? null : SessionTarget.of(rank);
  }

  @Test
  void ofTwoFirstRequestsAtOnceTheLaterOneGoesWhereTheOtherWent() {
    var known = table.target("s");
    assertThat(table.lease("s", ONE, known)).isNotNull();
    assertThat(table.lease("s", TWO, known)).isNull();
    assertThat(table.target("s")).isEqualTo(at(ONE));
    assertThat(table.lease("s", ONE, known)).as("it went there by itself").isNotNull();
  }

  @Test
  void aSessionThatMustMoveIsReboundAndItsOldRequestsEndUnheard() {
    var old = use("s", ONE);
    var moved = use("s", TWO);
    old.close();
    assertThat(table.target("s")).isEqualTo(at(TWO));
    nanos.addAndGet(TTL.toNanos());
    assertThat(table.target("s")).as("a request of it is open").isEqualTo(at(TWO));
    moved.close();
    moved.close();
    nanos.addAndGet(TTL.toNanos() - 1);
    assertThat(table.target("s")).isEqualTo(at(TWO));
    nanos.incrementAndGet();
    assertThat(table.target("s")).isNull();
    assertThat(table.size()).isZero();
  }

  @Test
  void othersReceiveBindingUseAndEnd() {
    table.setListener(updates::add);
    var first = use("s", ONE);
    var second = use("s", ONE);
    first.close();
    second.close();

    var binding = new SessionBinding("s", ONE.worker(), 0, 1_000, SELF);
    assertThat(updates).as("two uses, and the end of the last").containsOnly(binding).hasSize(3);
    wall.set(5);
    use("s", TWO).close();
    assertThat(updates.getLast().sequence()).as("later, whatever the clock says").isEqualTo(1_001);
  }

  @Test
  void bindingsOfOtherRoutersAreAdopted() {
    assertThat(table.learn(binding("s", TWO, 500))).isEqualTo(SessionTable.LearnOutcome.BOUND);
    assertThat(table.target("s")).isEqualTo(at(TWO));
    nanos.addAndGet(TTL.toNanos() - 1);
    assertThat(table.learn(binding("s", TWO, 500))).isEqualTo(SessionTable.LearnOutcome.REFRESHED);
    nanos.addAndGet(TTL.toNanos() - 1);
    assertThat(table.target("s")).as("it slides with its use there").isEqualTo(at(TWO));
    nanos.incrementAndGet();
    assertThat(table.target("s")).isNull();
  }

  @Test
  void theLaterOfTwoBindingsCounts() {
    use("s", ONE).close();
    assertThat(table.learn(binding("s", TWO, 999))).isEqualTo(SessionTable.LearnOutcome.STALE);
    assertThat(table.target("s")).isEqualTo(at(ONE));
    assertThat(table.learn(binding("s", TWO, 1_000)))
        .as("the greater writer of two at once")
        .isEqualTo(SessionTable.LearnOutcome.MOVED);
    assertThat(table.target("s")).isEqualTo(at(TWO));
    assertThat(table.learn(binding("s", ONE, -1)))
        .as("numbers are unsigned")
        .isEqualTo(SessionTable.LearnOutcome.MOVED);
  }

  @Test
  void aRouterThatTellsNoTimeMovesNothing() {
    use("s", ONE).close();
    assertThat(table.learn(binding("s", TWO, 0))).isEqualTo(SessionTable.LearnOutcome.STALE);
    assertThat(table.learn(binding("t", TWO, 0))).isEqualTo(SessionTable.LearnOutcome.BOUND);
  }

  @Test
  void aRebindingIsLaterThanWhatWasHeardButNoClockRunsAway() {
    table.setListener(updates::add);
    assertThat(table.learn(binding("s", TWO, 2_000))).isEqualTo(SessionTable.LearnOutcome.BOUND);
    table.unbind("s", SessionTarget.of(TWO));
    use("s", ONE).close();
    assertThat(updates.getLast().sequence()).isEqualTo(2_001);

    assertThat(table.learn(binding("t", TWO, Long.MAX_VALUE)))
        .isEqualTo(SessionTable.LearnOutcome.BOUND);
    use("u", ONE).close();
    assertThat(updates.getLast().sequence()).isEqualTo(2_002);
  }

  @Test
  void aWorkerWithoutARankIsMadeExactByTheFirstRequest() {
    assertThat(table.learn(new SessionBinding("s", TWO.worker(), null, 7, OTHER)))
        .isEqualTo(SessionTable.LearnOutcome.BOUND);
    assertThat(table.target("s")).isEqualTo(new SessionTarget(TWO.worker(), null));
    use("s", TWO).close();
    assertThat(table.target("s")).isEqualTo(at(TWO));
  }

  @Test
  void theSessionsOfALostWorkerAreForgotten() {
    var open = use("a", ONE);
    use("b", ONE).close();
    use("c", TWO).close();
    table.keep(Set.of(TWO.worker()));
    assertThat(table.target("a")).isNull();
    assertThat(table.target("b")).isNull();
    assertThat(table.target("c")).isEqualTo(at(TWO));
    open.close();
    assertThat(table.size()).isEqualTo(1);
  }

  @Test
  void aFullTableForgetsTheLongestIdleAndLearnsNothing() {
    var open = use("a", ONE);
    use("b", ONE).close();
    nanos.incrementAndGet();
    use("c", ONE).close();
    assertThat(table.learn(binding("d", TWO, 5_000))).isEqualTo(SessionTable.LearnOutcome.FULL);
    assertThat(table.learn(binding("c", TWO, 5_000))).isEqualTo(SessionTable.LearnOutcome.MOVED);
    use("d", TWO).close();
    assertThat(table.target("b")).isNull();
    assertThat(table.target("a")).isEqualTo(at(ONE));
    assertThat(table.size()).isEqualTo(3);
    open.close();
  }

  @Test
  void whileAllAreAtWorkANewOneIsNotBound() {
    var full = table(1);
    assertThat(full.lease("a", ONE, null)).isNotNull();
    assertThat(full.lease("b", TWO, null)).isSameAs(SessionTable.Lease.NONE);
    assertThat(full.target("b")).isNull();
  }

  @Test
  void anotherRequestOfASessionAtWorkTakesNobodysPlace() {
    use("a", ONE).close();
    use("b", ONE).close();
    use("c", ONE);
    use("c", ONE);
    assertThat(table.size()).isEqualTo(3);
    assertThat(table.target("a")).isEqualTo(at(ONE));
  }
}
