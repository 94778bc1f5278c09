package io.dynamo.router.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.event.EventEnvelope;
import io.dynamo.event.EventPlane;
import io.dynamo.event.EventSubject;
import io.dynamo.kv.ActiveLoad;
import io.dynamo.kv.WorkerRank;
import io.dynamo.kv.codec.ActiveLoadCodec;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.RouterMetrics;
import io.dynamo.net.PayloadFormat;
import io.dynamo.router.load.ReportedLoads;
import io.dynamo.runtime.EndpointInstances;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class LoadIntakeTest {
  private static final EndpointId ENDPOINT = new EndpointId("n", "c", "e");
  private static final WorkerRank RANK = new WorkerRank(new InstanceId(1), 0);

  /** One worker at most; tells of its coming and going. */
  private static final class Workers implements EndpointInstances {
    final List<Instance> live = new ArrayList<>();
    final List<Runnable> listeners = new ArrayList<>();

    void come(InstanceId id) {
      live.add(
          new Instance(
              ENDPOINT,
              id,
              new TransportAddress.Tcp("127.0.0.1:1", "e"),
              "cpu",
              PayloadFormat.MSGPACK));
      listeners.forEach(Runnable::run);
    }

    void go() {
      live.clear();
      listeners.forEach(Runnable::run);
    }

    @Override
    public List<Instance> live() {
      return List.copyOf(live);
    }

    @Override
    public Set<InstanceId> inhibited() {
      return Set.of();
    }

    @Override
    public void inhibit(InstanceId id) {
      throw new UnsupportedOperationException("nobody asks for this");
    }

    @Override
    public Cancellation.Registration onChange(Runnable listener) {
      listeners.add(listener);
      listener.run();
      return () -> listeners.remove(listener);
    }
  }

  /** Hands reports to the listener of the one topic. */
  private static final class Plane implements EventPlane {
    final List<Consumer<EventEnvelope>> listeners = new ArrayList<>();

    void tell(byte[] payload) {
      listeners.forEach(
          listener -> listener.accept(new EventEnvelope(9, 0, 0, ActiveLoad.TOPIC, payload)));
    }

    @Override
    public Publisher publisher(EventSubject subject) {
      throw new UnsupportedOperationException("subscribed only");
    }

    @Override
    public Subscription subscribe(EventSubject subject, Consumer<EventEnvelope> listener) {
      assertThat(subject).isEqualTo(new EventSubject(ENDPOINT, "kv_metrics"));
      listeners.add(listener);
      return () -> listeners.remove(listener);
    }

    @Override
    public void close() {}
  }

  private final Workers workers = new Workers();
  private final Plane plane = new Plane();
  private final Metrics metrics = new Metrics();
  private long nowNanos;
  private final ReportedLoads loads = new ReportedLoads(Duration.ofSeconds(9), () -> nowNanos);
  private final LoadIntake intake = new LoadIntake(ENDPOINT, workers, loads, plane, metrics);

  private void report(WorkerRank rank, long blocks) {
    plane.tell(ActiveLoadCodec.encode(ActiveLoad.ofUsedBlocks(rank, blocks)));
  }

  private long dropped(String reason) {
    return metrics.counter(RouterMetrics.LOAD_REPORTS_DROPPED, new Label("reason", reason)).value();
  }

  @Test
  void theNewestReportOfARankCountsAndAges() {
    workers.come(RANK.worker());
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
    workers.come(RANK.worker());
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
    workers.come(RANK.worker());
    report(RANK, 3);
    workers.go();
    assertThat(loads.of(RANK)).isEmpty();

    report(RANK, 4);

    assertThat(loads.of(RANK)).isEmpty();
    assertThat(dropped("unknown_worker")).isEqualTo(1);
  }

  @Test
  void whatIsNoReportIsCounted() {
    workers.come(RANK.worker());
    plane.tell(new byte[] {1});
    report(new WorkerRank(RANK.worker(), LoadIntake.MAX_RANKS), 1);

    assertThat(dropped("undecodable")).isEqualTo(2);
    assertThat(loads.usedBlocks()).isZero();
  }

  @Test
  void aClosedIntakeListensToNobody() {
    intake.close();

    assertThat(plane.listeners).isEmpty();
    assertThat(workers.listeners).isEmpty();
  }
}
