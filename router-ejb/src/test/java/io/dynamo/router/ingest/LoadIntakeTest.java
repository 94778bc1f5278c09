package io.dynamo.router.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.discovery.InstanceId;
import io.dynamo.kv.ActiveLoad;
import io.dynamo.kv.WorkerRank;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.RouterMetrics;
import io.dynamo.router.endpoint.FakeInstances;
import io.dynamo.router.endpoint.FakePlane;
import io.dynamo.router.load.ReportedLoads;
import io.dynamo.wire.kv.ActiveLoadCodec;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class LoadIntakeTest {
  private static final WorkerRank RANK = new WorkerRank(new InstanceId(1), 0);

  private final FakeInstances workers = new FakeInstances();
  private final FakePlane plane = new FakePlane();
  private final Metrics metrics = new Metrics();
  private long nowNanos;
  private final ReportedLoads loads = new ReportedLoads(Duration.ofSeconds(9), () -> nowNanos);
  private final LoadIntake intake =
      new LoadIntake(FakeInstances.ENDPOINT, workers, loads, plane, metrics);

  private void tell(byte[] payload) {
    plane.tell(9, "kv_metrics", payload);
  }

  private void report(WorkerRank rank, long blocks) {
    tell(ActiveLoadCodec.encode(ActiveLoad.ofUsedBlocks(rank, blocks)));
  }

  private long dropped(String reason) {
    return metrics.counter(RouterMetrics.LOAD_REPORTS_DROPPED, new Label("reason", reason)).value();
  }

  @Test
  void theNewestReportOfARankCountsAndAges() {
    workers.set(RANK.worker().value());
    report(RANK, 3);
    report(RANK, 5);
    report(new WorkerRank(RANK.worker(), 1), 2);
    nowNanos += 40;

    assertThat(loads.of(RANK))
        .contains(new ReportedLoads.Reported(ActiveLoad.ofUsedBlocks(RANK, 5), 40));
    assertThat(loads.usedBlocks()).isEqualTo(7);
  }

  @Test
  void aReportThatNoOtherFollowsIsNotBelievedForEver() {
    workers.set(RANK.worker().value());
    report(RANK, 5);
    nowNanos += Duration.ofSeconds(9).toNanos() - 1;
    assertThat(loads.of(RANK)).isPresent();
    nowNanos++;
    assertThat(loads.of(RANK)).isEmpty();
    assertThat(loads.usedBlocks()).isZero();
    report(RANK, 6);
    assertThat(loads.usedBlocks()).isEqualTo(6);
  }

  @Test
  void aWorkerThatIsGoneIsForgottenAndNotBelieved() {
    workers.set(RANK.worker().value());
    report(RANK, 3);
    workers.set();
    assertThat(loads.of(RANK)).isEmpty();

    report(RANK, 4);

    assertThat(loads.of(RANK)).isEmpty();
    assertThat(dropped("unknown_worker")).isEqualTo(1);
  }

  @Test
  void undecodableReportsAreCounted() {
    workers.set(RANK.worker().value());
    tell(new byte[] {1});
    report(new WorkerRank(RANK.worker(), LoadIntake.MAX_RANKS), 1);

    assertThat(dropped("undecodable")).isEqualTo(2);
    assertThat(loads.usedBlocks()).isZero();
  }

  @Test
  void aClosedIntakeListensToNobody() {
    intake.close();

    assertThat(plane.subscribed()).isEmpty();
    assertThat(workers.listeners()).isEmpty();
  }
}
