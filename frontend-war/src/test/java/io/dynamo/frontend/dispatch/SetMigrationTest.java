package io.dynamo.frontend.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.NoWorkerException;
import io.dynamo.error.OverloadedException;
import io.dynamo.frontend.TestCard;
import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.frontend.preprocess.NoText;
import io.dynamo.frontend.watch.Stages;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.OutputOptions;
import io.dynamo.inference.PassedOn;
import io.dynamo.inference.RoutingHints;
import io.dynamo.inference.SamplingOptions;
import io.dynamo.inference.StopConditions;
import io.dynamo.inference.Usage;
import io.dynamo.metrics.Metrics;
import io.dynamo.model.ModelCardSum;
import io.dynamo.request.RequestContext;
import io.dynamo.router.RouteDecision;
import io.dynamo.router.RouteRequest;
import io.dynamo.trace.Tracing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Generations whose own set of workers fails them, and those that other sets take up. */
class SetMigrationTest {
  private static final String WHOLE = "x-bypass-remote-prefill";

  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
  private final Metrics metrics = new Metrics();
  private final PlayedWorkers workers = new PlayedWorkers();
  private final RecordingClient client = new RecordingClient();
  private final Map<String, List<InstanceId>> namespaces = new HashMap<>();
  private final List<RouteRequest> routed = new ArrayList<>();
  private final List<ServedModel> others = new ArrayList<>();
  private RoutingHints routing = RoutingHints.NONE;
  private List<String> annotations = List.of();
  private boolean busy; // the first set

  @AfterEach
  void stopTimer() {
    timer.shutdownNow();
  }

  private static ServedModel set(String namespace, TestCard card) {
    return new ServedModel(
        card.build(), new EndpointId(namespace, "backend", "generate"), new NoText(), 0);
  }

  private RouteDecision route(RouteRequest request) {
    routed.add(request);
    var namespace = request.endpoint().namespace();
    if (busy && namespace.equals("old")) {
      throw new OverloadedException("all are busy");
    }
    for (var id : namespaces.getOrDefault(namespace, List.of())) {
      if (!request.excluded().contains(id)) {
        return new ChosenWorker(request, id, () -> {});
      }
    }
    throw new NoWorkerException(request.endpoint(), 1, request.excluded().size());
  }

  private void generate(ServedModel model) {
    var request =
        new GenerateRequest(
            "tiny",
            new int[] {1, 2, 3},
            new StopConditions(10, List.of(), List.of(), null, false),
            SamplingOptions.DEFAULTS,
            OutputOptions.DEFAULTS,
            new int[] {9},
            ModelCardSum.of(model.card()),
            annotations,
            routing,
            Map.of());
    new LegDispatcher(
            this::route,
            workers,
            lost -> others.stream().filter(other -> !other.equals(lost)).toList(),
            new PlainLegs(),
            new MigrationRules(3),
            metrics,
            new Stages(metrics, Tracing.OFF),
            Runnable::run,
            timer)
        .generate(
            model,
            request,
            new RequestContext(
                "r", Map.of(), Map.of(), Deadline.after(Duration.ofMinutes(1)), new Cancellation()),
            new RouteTrace())
        .subscribe(client);
  }

  @Test
  void aStreamGoesOnInAnotherSetWhenItsOwnHasNobodyLeft() {
    namespaces.put("old", List.of(new InstanceId(1)));
    namespaces.put("new", List.of(new InstanceId(2)));
    var other = set("new", TestCard.named("tiny").blockTokens(32));
    others.add(other);
    generate(set("old", TestCard.named("tiny")));
    workers.last().say(101, 102).lose();
    var second = workers.last();
    assertThat(second.instance.id()).isEqualTo(new InstanceId(2));
    assertThat(second.request.tokenIds()).containsExactly(1, 2, 3, 101, 102);
    assertThat(second.request.cardChecksum()).isEqualTo(ModelCardSum.of(other.card()));
    assertThat(routed.getLast().workers()).isEqualTo(other.workers());
    assertThat(routed.getLast().blockTokens()).as("of the other set").isEqualTo(32);
    second.say(103).finish(FinishReason.LENGTH, new Usage(5, 1, 0));
    assertThat(client.tokens).containsExactly(101, 102, 103);
    assertThat(client.usage()).isEqualTo(new Usage(3, 3, 0));
    assertThat(client.failure).isNull();
  }

  @Test
  void itsOwnSetIsTriedFirst() {
    namespaces.put("old", List.of(new InstanceId(1), new InstanceId(3)));
    namespaces.put("new", List.of(new InstanceId(2)));
    others.add(set("new", TestCard.named("tiny")));
    generate(set("old", TestCard.named("tiny")));
    workers.last().say(101).lose();
    assertThat(workers.last().instance.id()).isEqualTo(new InstanceId(3));
    workers.last().lose();
    assertThat(workers.last().instance.id()).isEqualTo(new InstanceId(2));
    workers.last().finish(FinishReason.STOP, null);
    assertThat(client.failure).isNull();
  }

  @Test
  void aRequestWhoseSetIsBusyOrGoneStartsInAnother() {
    namespaces.put("new", List.of(new InstanceId(2)));
    others.add(set("new", TestCard.named("tiny")));
    busy = true;
    generate(set("old", TestCard.named("tiny")));
    workers.last().say(101).finish(FinishReason.LENGTH, null);
    busy = false;
    generate(set("old", TestCard.named("tiny")));
    workers.last().say(102).finish(FinishReason.LENGTH, null);
    assertThat(workers.calls).hasSize(2);
  }

  @Test
  void withoutACompatibleSetTheLossIsTheError() {
    namespaces.put("old", List.of(new InstanceId(1)));
    generate(set("old", TestCard.named("tiny")));
    workers.last().say(101).lose();
    assertThat(client.code()).isEqualTo(ErrorCode.DISCONNECTED);
    assertThat(client.tokens).containsExactly(101);
  }

  @Test
  void aSetWhoseContextIsTooShortIsPassedOver() {
    namespaces.put("old", List.of(new InstanceId(1)));
    namespaces.put("small", List.of(new InstanceId(2)));
    namespaces.put("large", List.of(new InstanceId(3)));
    others.add(set("small", TestCard.named("tiny").contextLength(12)));
    others.add(set("large", TestCard.named("tiny").contextLength(13)));
    generate(set("old", TestCard.named("tiny").contextLength(4096)));
    workers.last().say(101).lose(); // 4 tokens and 9 to come
    assertThat(workers.last().instance.id()).isEqualTo(new InstanceId(3));
  }

  @Test
  void aRequestForOneWorkerStaysWithItsSet() {
    namespaces.put("new", List.of(new InstanceId(2)));
    others.add(set("new", TestCard.named("tiny")));
    routing = new RoutingHints(null, PassedOn.of(Map.of("backend_instance_id", 1L)));
    generate(set("old", TestCard.named("tiny")));
    assertThat(workers.calls).isEmpty();
    assertThat(client.code()).isEqualTo(ErrorCode.UNAVAILABLE);
  }

  @Test
  void decodeWorkersLearnThatNoPrefillIsToCome() {
    namespaces.put("old", List.of(new InstanceId(1)));
    namespaces.put("new", List.of(new InstanceId(2)));
    others.add(set("new", TestCard.named("tiny").workerType("aggregated")));
    annotations = List.of("mine");
    generate(set("old", TestCard.named("tiny").workerType("decode")));
    assertThat(workers.last().request.annotations()).containsExactly("mine", WHOLE);
    workers.last().lose();
    assertThat(workers.last().request.annotations())
        .as("others do the whole anyway")
        .containsExactly("mine");
  }

  @Test
  void clientsCannotSayThatNoPrefillIsToCome() {
    namespaces.put("old", List.of(new InstanceId(1)));
    annotations = List.of(WHOLE);
    generate(set("old", TestCard.named("tiny").workerType("aggregated")));
    assertThat(workers.last().request.annotations()).isEmpty();
  }
}
