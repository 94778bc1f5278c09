package io.dynamo.worker.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import io.dynamo.event.EventSubject;
import io.dynamo.kv.ActiveLoad;
import io.dynamo.kv.WorkerRank;
import io.dynamo.wire.kv.ActiveLoadCodec;
import io.dynamo.worker.HandAlarms;
import io.dynamo.worker.SentPlane;
import io.dynamo.worker.engine.LoadReport;
import io.dynamo.worker.engine.RankLoad;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class LoadPublisherTest {
  private static final EndpointId ENDPOINT = new EndpointId("n", "c", "e");
  private static final InstanceId WORKER = new InstanceId(7);

  private final SentPlane plane = new SentPlane();
  private final HandAlarms alarms = new HandAlarms();
  private final int[] held = {0, 0};
  private int looks;
  private final LoadReport report =
      new LoadReport() {
        @Override
        public List<RankLoad> ranks() {
          looks++;
          return IntStream.of(held)
              .mapToObj(blocks -> new RankLoad(0, 0, blocks, 0, 10, 0, 0, 0, 0))
              .toList();
        }

        @Override
        public long cancelled() {
          return 0;
        }

        @Override
        public long lastCancelNanos() {
          return 0;
        }
      };
  private final LoadPublisher loads = new LoadPublisher(plane, ENDPOINT, WORKER, report, alarms);

  private List<ActiveLoad> sent() {
    var loads = plane.sent.stream().map(ActiveLoadCodec::decode).toList();
    plane.sent.clear();
    return loads;
  }

  private static ActiveLoad used(int rank, long blocks) {
    return ActiveLoad.ofUsedBlocks(new WorkerRank(WORKER, rank), blocks);
  }

  @Test
  void onePublisherTellsAllRanks() {
    loads.start();

    assertThat(sent()).containsExactly(used(0, 0), used(1, 0));
    assertThat(plane.subjects).containsExactly(new EventSubject(ENDPOINT, "kv_metrics"));
  }

  @Test
  void onlyChangesAreToldAndOnlyTheLastOfAnInterval() {
    held[0] = 1;
    loads.start();
    sent();

    held[1] = 3;
    held[1] = 4;
    alarms.advance(LoadPublisher.INTERVAL);
    assertThat(sent()).containsExactly(used(1, 4));

    alarms.advance(LoadPublisher.INTERVAL.multipliedBy(3));
    assertThat(sent()).isEmpty();
  }

  @Test
  void anIdleWorkerIsLookedAtLessOften() {
    loads.start();
    sent();
    looks = 0;

    alarms.advance(LoadPublisher.IDLE_INTERVAL.multipliedBy(4));
    assertThat(looks).isEqualTo(4);

    held[1] = 2;
    alarms.advance(LoadPublisher.IDLE_INTERVAL);
    held[1] = 3;
    alarms.advance(LoadPublisher.INTERVAL);
    assertThat(sent()).containsExactly(used(1, 2), used(1, 3));
  }

  @Test
  void unchangedLoadIsRepeated() {
    loads.start();
    sent();

    alarms.advance(LoadPublisher.REPEAT);

    assertThat(sent()).containsExactly(used(0, 0), used(1, 0));
  }

  @Test
  void aReportThatCouldNotBeSentIsSentLater() {
    plane.broken = true;
    loads.start();
    plane.broken = false;

    alarms.advance(LoadPublisher.INTERVAL);

    assertThat(sent()).containsExactly(used(0, 0), used(1, 0));
  }

  @Test
  void aClosedPublisherIsSilent() {
    loads.start();
    sent();
    loads.close();
    loads.close();
    held[0] = 9;

    alarms.advance(Duration.ofMinutes(1));
    loads.start();

    assertThat(sent()).isEmpty();
    assertThat(alarms.waiting()).isZero();
    assertThat(plane.closed).isEqualTo(1);
  }
}
