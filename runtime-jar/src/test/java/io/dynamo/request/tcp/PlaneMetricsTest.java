package io.dynamo.request.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.concurrent.ItemStream;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.inference.EngineOutput;
import io.dynamo.metrics.EndpointMetrics;
import io.dynamo.metrics.Histogram;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.MetricName;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.PrometheusText;
import io.dynamo.testing.Exposition;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.DoubleSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The plane's metrics under Dynamo's names, beside the texts of Dynamo's own processes. */
@Timeout(120)
class PlaneMetricsTest {
  /**
   * Those of the plane in the capture of a worker; docs/health-and-metrics.md says why others are
   * missing.
   */
  private static final List<String> OF_WORKERS =
      List.of(
          "dynamo_component_cancellation_total",
          "dynamo_component_errors_total",
          "dynamo_component_inflight_requests",
          "dynamo_component_request_bytes_total",
          "dynamo_component_request_duration_seconds",
          "dynamo_component_requests_total",
          "dynamo_component_response_bytes_total",
          "dynamo_engine_request",
          "dynamo_rejection_request_total",
          "dynamo_request_queue",
          "dynamo_work_handler_network_transit_seconds",
          "dynamo_work_handler_permit_wait_seconds",
          "dynamo_work_handler_pool_active_tasks",
          "dynamo_work_handler_pool_capacity",
          "dynamo_work_handler_time_to_first_response_seconds");

  private static final List<String> OF_FRONTENDS =
      List.of(
          "dynamo_request_plane_inflight_requests",
          "dynamo_request_plane_queue_seconds",
          "dynamo_request_plane_roundtrip_ttft_seconds",
          "dynamo_request_plane_send_seconds",
          "dynamo_transport_tcp_bytes_received_total",
          "dynamo_transport_tcp_bytes_sent_total",
          "dynamo_transport_tcp_errors_total");

  private final TestPlane plane = new TestPlane();
  private final PrometheusText outlet = new PrometheusText();
  private final List<Histogram> durations = new CopyOnWriteArrayList<>();
  private long done; // requests that were waited for
  private final LinkedBlockingQueue<ItemStream<EngineOutput>> running = new LinkedBlockingQueue<>();

  PlaneMetricsTest() {
    plane.metrics.attach(outlet);
    plane.metrics.attach(new Ends());
  }

  @AfterEach
  void close() {
    plane.close();
  }

  private ItemStream<EngineOutput> next() throws InterruptedException {
    var next = running.poll(TestPlane.PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    if (next == null) {
      throw new AssertionError("no request has reached the handler");
    }
    return next;
  }

  private Exposition exposition() {
    return Exposition.of(outlet.write());
  }

  /** Waits for the last meter of a request, which is touched after its caller was answered. */
  private void awaitDone() {
    done++;
    long until = System.nanoTime() + TestPlane.PATIENCE.toNanos();
    while (durations.stream().mapToLong(Histogram::count).sum() < done) {
      assertThat(System.nanoTime()).as("a request whose end was not counted").isLessThan(until);
      Thread.onSpinWait();
    }
  }

  /** Keeps the meters that are touched last. */
  private final class Ends implements Metrics.Outlet {
    @Override
    public void counter(MetricName name, List<Label> labels, Metrics.Counter counter) {}

    @Override
    public void gauge(MetricName name, List<Label> labels, DoubleSupplier value) {}

    @Override
    public void histogram(MetricName name, List<Label> labels, Histogram histogram) {
      if (name.equals(EndpointMetrics.REQUEST_DURATION)) {
        durations.add(histogram);
      }
    }
  }

  @Test
  void everyClaimedNameHasDynamosTypeLabelsAndBucketsAndMoves() throws Exception {
    var served =
        plane.serve(
            (request, context) -> {
              if (request.tokenIds().length == 1) {
                throw new InvalidRequestException("too short");
              }
              var answer = new ItemStream<EngineOutput>(8, () -> {}, () -> {});
              running.add(answer);
              return answer;
            });
    var before = exposition();

    var whole = Collector.all(plane.call(served));
    var answer = next();
    assertThat(exposition().sum("dynamo_component_inflight_requests")).isEqualTo(1);
    assertThat(exposition().sum("dynamo_work_handler_pool_active_tasks")).isEqualTo(1);
    assertThat(exposition().sum("dynamo_request_plane_inflight_requests")).isEqualTo(1);
    answer.offer(EngineOutput.ofTokens(7));
    answer.complete();
    whole.awaitCompletion();
    awaitDone();

    var cancellation = new Cancellation();
    var cancelled =
        Collector.all(plane.call(plane.instance(served), TestPlane.context(cancellation)));
    answer = next();
    answer.offer(EngineOutput.ofTokens(7));
    cancelled.awaitItems(1);
    cancellation.kill();
    cancelled.awaitFailure();
    awaitDone();

    var failed = Collector.all(plane.call(served));
    next().fail(new EngineFailedException(ErrorCode.BACKEND_UNKNOWN, "broken", null));
    failed.awaitFailure();
    awaitDone();

    Collector.all(plane.call(elsewhere(served.address()), TestPlane.context())).awaitFailure();
    served.drain(Deadline.after(TestPlane.PATIENCE));

    var after = exposition();
    assertSame(after, Exposition.captured("worker-system-port.prom"), OF_WORKERS);
    assertSame(after, Exposition.captured("frontend-http-port.prom"), OF_FRONTENDS);
    for (var moved :
        List.of(
            "dynamo_component_cancellation_total",
            "dynamo_component_errors_total",
            "dynamo_component_request_bytes_total",
            "dynamo_component_request_duration_seconds_count",
            "dynamo_component_request_duration_seconds_sum",
            "dynamo_component_requests_total",
            "dynamo_component_response_bytes_total",
            "dynamo_work_handler_network_transit_seconds_count",
            "dynamo_work_handler_time_to_first_response_seconds_count",
            "dynamo_request_plane_queue_seconds_count",
            "dynamo_request_plane_roundtrip_ttft_seconds_count",
            "dynamo_request_plane_send_seconds_count",
            "dynamo_transport_tcp_bytes_received_total",
            "dynamo_transport_tcp_bytes_sent_total")) {
      assertThat(after.sum(moved)).as(moved).isGreaterThan(before.sum(moved));
    }
    assertThat(after.sum("dynamo_component_requests_total")).isEqualTo(3);
    assertThat(after.sum("dynamo_component_cancellation_total")).isEqualTo(1);
    assertThat(after.sum("dynamo_component_inflight_requests")).isZero();
    assertThat(after.text()).contains("error_type=\"generate\"").contains("worker_id=\"ec5ccf");
    assertThat(after.sum("dynamo_work_handler_pool_capacity")).isEqualTo(8);
  }

  private static void assertSame(Exposition ours, Exposition captured, List<String> names) {
    for (var name : names) {
      assertThat(ours.family(name)).as(name).isEqualTo(captured.family(name));
    }
  }

  @Test
  void aRefusedRequestCountsAsRejected() throws Exception {
    var served =
        plane.serve(
            (_, _) -> {
              var answer = new ItemStream<EngineOutput>(8, () -> {}, () -> {});
              running.add(answer);
              return answer;
            });
    for (int i = 0; i < 8; i++) {
      var _ = Collector.all(plane.call(served));
      next();
    }
    Collector.all(plane.call(served)).awaitFailure();
    assertThat(exposition().sum("dynamo_rejection_request_total")).isEqualTo(1);
    assertThat(exposition().sum("dynamo_component_requests_total")).isEqualTo(8);
  }

  /** An endpoint that nobody serves, at the address of one that is served. */
  private Instance elsewhere(TransportAddress address) {
    return new Instance(
        new EndpointId("dynamo", "backend", "other"),
        TestPlane.ID,
        switch (address) {
          case TransportAddress.Tcp tcp -> new TransportAddress.Tcp(tcp.address(), "no/such/path");
          case TransportAddress.Http2 http2 ->
              new TransportAddress.Http2(http2.secure(), http2.address(), "/no/such/path");
          case TransportAddress.Nats nats -> nats;
          case TransportAddress.Several several -> throw several.unchosen();
        },
        null,
        plane.settings.format());
  }
}
