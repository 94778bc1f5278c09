package io.dynamo.frontend.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import io.dynamo.error.CancelledException;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.NoWorkerException;
import io.dynamo.error.WorkerBusyException;
import io.dynamo.frontend.TestCard;
import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.frontend.preprocess.NoText;
import io.dynamo.frontend.watch.StageMetrics;
import io.dynamo.frontend.watch.Stages;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.OutputOptions;
import io.dynamo.inference.RoutingHints;
import io.dynamo.inference.SamplingOptions;
import io.dynamo.inference.StopConditions;
import io.dynamo.inference.Usage;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.request.RequestContext;
import io.dynamo.router.RouteHints;
import io.dynamo.router.RouteRequest;
import io.dynamo.trace.Tracing;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Legs of a generation against scripted workers: what is lost, taken up again, counted, and given
 * back.
 */
class GenerationTest {
  private static final EndpointId ENDPOINT = new EndpointId("dynamo", "backend", "generate");

  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
  private final Metrics metrics = new Metrics();
  private final PlayedWorkers workers = new PlayedWorkers();
  private final RecordingClient client = new RecordingClient();
  private final Cancellation cancellation = new Cancellation();
  private @Nullable Integer minTokens;
  private final RouteTrace trail = new RouteTrace();

  @AfterEach
  void stopTimer() {
    timer.shutdownNow();
  }

  @Test
  void anUnbrokenStreamPassesUntouched() {
    generate(3, 10);
    workers.last().say(101, 102).finish(FinishReason.LENGTH, new Usage(3, 2, 1));
    assertThat(client.tokens).containsExactly(101, 102);
    assertThat(client.usage()).isEqualTo(new Usage(3, 2, 1));
    assertThat(client.completed).isTrue();
    assertThat(workers.closedDecisions).isEqualTo(1);
    assertThat(workers.setAside).isEmpty();
  }

  @Test
  void aWorkerLostBeforeTheFirstTokenIsReplacedUnseen() {
    generate(3, 10);
    var first = workers.last();
    first.lose();
    workers.last().say(101).finish(FinishReason.LENGTH, new Usage(3, 1, 0));
    assertThat(client.tokens).containsExactly(101);
    assertThat(client.failure).isNull();
    assertThat(workers.calls).hasSize(2);
    assertThat(workers.last().instance).isNotEqualTo(first.instance);
    assertThat(workers.setAside).containsExactly(first.instance.id());
    assertThat(migrations("new_request")).isEqualTo(1);
  }

  @Test
  void tokensSoFarBecomePromptAndTheBudgetShrinksByThem() {
    generate(3, 10);
    workers.last().say(101, 102, 103).lose();
    var second = workers.last();
    assertThat(second.request.tokenIds()).containsExactly(1, 2, 3, 101, 102, 103);
    assertThat(second.request.stop().maxTokens()).isEqualTo(7);
    second.say(104).finish(FinishReason.LENGTH, new Usage(6, 1, 5));
    assertThat(client.tokens).containsExactly(101, 102, 103, 104);
    assertThat(client.usage()).isEqualTo(new Usage(3, 4, 5));
    assertThat(migrations("ongoing_request")).isEqualTo(1);
    assertThat(workers.closedDecisions).isEqualTo(2);
  }

  @Test
  void theTriggeringErrorIsGivenWhenTheLimitIsReached() {
    generate(1, 10);
    workers.last().say(101).lose();
    workers.last().lose();
    assertThat(client.code()).isEqualTo(ErrorCode.DISCONNECTED);
    assertThat(workers.calls).hasSize(2);
    assertThat(workers.closedDecisions).isEqualTo(2);
  }

  @Test
  void limitZeroMeansNoMigration() {
    generate(0, 10);
    workers.last().lose();
    assertThat(client.code()).isEqualTo(ErrorCode.DISCONNECTED);
    assertThat(workers.calls).hasSize(1);
  }

  @Test
  void aLossThatNobodyTakesUpIsNoMigration() {
    generate(3, 10, Generation::startLeg);
    workers.last().say(101).lose();
    assertThat(client.code()).isEqualTo(ErrorCode.DISCONNECTED);
    assertThat(workers.calls).hasSize(1);
    assertThat(migrations("ongoing_request")).isZero();
  }

  @Test
  void theLossIsGivenWhenNoOtherWorkerIsLeft() {
    workers.ids.removeLast();
    generate(9, 10);
    workers.last().lose();
    workers.ids.removeFirst();
    workers.last().lose();
    assertThat(workers.calls).hasSize(2);
    assertThat(client.code()).isEqualTo(ErrorCode.DISCONNECTED);
  }

  @Test
  void aWorkerThatFailedBeforeIsAskedAgainWhenNobodyElseIsLeft() {
    generate(3, 10);
    workers.last().say(101).lose();
    workers.last().say(102).lose();
    workers.last().say(103).lose();
    assertThat(workers.calls).hasSize(4);
    assertThat(workers.last().instance.id()).isNotEqualTo(new InstanceId(3));
    workers.last().say(104).finish(FinishReason.STOP, null);
    assertThat(client.tokens).containsExactly(101, 102, 103, 104);
    assertThat(client.completed).isTrue();
  }

  @Test
  void aBusyWorkerIsLeftForAnotherButNotSetAside() {
    generate(3, 10);
    workers.last().fail(new WorkerBusyException("full"));
    workers.last().say(101).finish(FinishReason.STOP, null);
    assertThat(client.tokens).containsExactly(101);
    assertThat(workers.setAside).isEmpty();
  }

  @Test
  void aRequestThatNoWorkerCanServeIsNotTriedAgain() {
    generate(3, 10);
    workers.last().fail(new InvalidRequestException("prompt of 5000 tokens exceeds 4096"));
    assertThat(client.failure).isInstanceOf(InvalidRequestException.class);
    assertThat(workers.calls).hasSize(1);
  }

  @Test
  void anErrorFromTheEngineIsAFailureAndNotAnItem() {
    generate(3, 10);
    workers
        .last()
        .say(101)
        .emit(new EngineOutput(new int[0], null, FinishReason.ERROR, "poisoned", 0, null));
    workers.last().end();
    assertThat(client.failure).isInstanceOf(EngineFailedException.class);
    assertThat(client.tokens).containsExactly(101);
    assertThat(workers.calls).hasSize(1);
  }

  @Test
  void noWorkerAtAllIsSaidAtOnce() {
    workers.ids.clear();
    generate(3, 10);
    assertThat(client.failure).isInstanceOf(NoWorkerException.class);
  }

  @Test
  void aLossAfterTheLastTokenOfTheBudgetEndsInLength() {
    generate(3, 2);
    workers.last().say(101, 102).lose();
    assertThat(workers.calls).hasSize(1);
    assertThat(client.finish).isEqualTo(FinishReason.LENGTH);
    assertThat(client.completed).isTrue();
    assertThat(client.usage()).isEqualTo(new Usage(3, 2, null));
  }

  @Test
  void aLossAfterTheEndOfTextEndsThere() {
    generate(3, 10);
    workers.last().say(101, 9).lose();
    assertThat(workers.calls).hasSize(1);
    assertThat(client.finish).isEqualTo(FinishReason.EOS);
  }

  @Test
  void anEndOfTextBeforeTheLeastNumberOfTokensDoesNotCount() {
    minTokens = 5;
    generate(3, 10);
    workers.last().say(101, 9).lose();
    assertThat(workers.calls).hasSize(2);
    assertThat(workers.last().request.stop().minTokens()).isEqualTo(3);
  }

  @Test
  void anEndOfTextThatIsTheLastOfTheLeastTokensDoesNotCount() {
    minTokens = 2;
    generate(3, 10);
    workers.last().say(101, 9).lose();
    assertThat(workers.calls).hasSize(2);
    workers.last().say(9).lose();
    assertThat(workers.calls).hasSize(2);
    assertThat(client.finish).isEqualTo(FinishReason.EOS);
  }

  @Test
  void aStreamThatEndsWithoutAReasonIsTheEndAndNobodyIsAskedAgain() {
    generate(3, 10);
    workers.last().say(101, 102).stream.complete();
    assertThat(workers.calls).hasSize(1);
    assertThat(workers.setAside).isEmpty();
    assertThat(workers.closedDecisions).isEqualTo(1);
    assertThat(client.tokens).containsExactly(101, 102);
    assertThat(client.completed).isTrue();
    assertThat(client.finish).isNull();
    assertThat(metrics.counter(DispatchMetrics.UNFINISHED, new Label("model", "tiny")).value())
        .isEqualTo(1);
  }

  @Test
  void aKillWhileTheRouterChoosesFreesTheBooking() {
    workers.whileRouting = cancellation::kill;
    generate(3, 10);
    assertThat(workers.calls).isEmpty();
    assertThat(workers.closedDecisions).isEqualTo(1);
    assertThat(client.failure).isInstanceOf(CancelledException.class);
  }

  @Test
  void aLossAfterTheFinishReasonIsNone() {
    generate(3, 10);
    workers.last().say(101).emit(EngineOutput.finish(FinishReason.STOP, null)).lose();
    assertThat(client.completed).isTrue();
    assertThat(workers.calls).hasSize(1);
  }

  @Test
  void demandNotMetByALostLegIsAskedOfTheNext() {
    client.wanted = 2;
    generate(3, 10);
    workers.last().say(101).lose();
    workers.last().say(102, 103);
    assertThat(client.tokens).containsExactly(101, 102);
    client.ask(1);
    assertThat(client.tokens).containsExactly(101, 102, 103);
  }

  @Test
  void aKillReachesTheLegAndFreesTheBooking() {
    generate(3, 10);
    var leg = workers.last();
    leg.say(101);
    cancellation.kill();
    assertThat(leg.cancelled).isTrue();
    assertThat(leg.context.cancellation().level()).isEqualTo(Cancellation.Level.KILL);
    assertThat(workers.closedDecisions).isEqualTo(1);
    assertThat(client.failure).isInstanceOf(CancelledException.class);
    leg.lose();
    assertThat(workers.calls).hasSize(1);
  }

  @Test
  void aSubscriberThatCancelsHearsNothingMore() {
    generate(3, 10);
    client.cancel();
    assertThat(workers.last().cancelled).isTrue();
    assertThat(client.failure).isNull();
    assertThat(cancellation.level()).isEqualTo(Cancellation.Level.KILL);
  }

  @Test
  void aStopEndsQuietlyWhenTheWorkerEndsWithoutAFinishReason() {
    generate(3, 10);
    workers.last().say(101);
    cancellation.stop();
    workers.last().end();
    assertThat(client.completed).isTrue();
    assertThat(workers.calls).hasSize(1);
  }

  @Test
  void aLegThatStartsWhenAllIsOverIsNotCounted() {
    var context = context();
    var watch =
        new LegWatch(
            model(), context, new DispatchMetrics(metrics), new Stages(metrics, Tracing.OFF));
    watch.end(new CancelledException("the client left"), 0);
    var asked =
        new RouteRequest(
            "r",
            model().workers(),
            new int[] {1},
            16,
            Set.of(),
            RouteHints.NONE,
            context.deadline(),
            cancellation);
    assertThat(watch.legStarts(new ChosenWorker(asked, new InstanceId(1), () -> {}))).isEmpty();
    assertThat(
            metrics
                .level(
                    StageMetrics.REQUESTS,
                    new Label("stage", "dispatch"),
                    new Label("phase", "aggregated"))
                .value())
        .isZero();
  }

  private RequestContext context() {
    return new RequestContext(
        "r", Map.of(), Map.of(), Deadline.after(Duration.ofMinutes(1)), cancellation);
  }

  private long migrations(String type) {
    return metrics
        .counter(
            DispatchMetrics.MIGRATIONS,
            new Label("model", "tiny"),
            new Label("migration_type", type))
        .value();
  }

  private void generate(int migrationLimit, int maxTokens) {
    generate(migrationLimit, maxTokens, new PlainLegs());
  }

  private void generate(int migrationLimit, int maxTokens, Legs legs) {
    var request =
        new GenerateRequest(
            "tiny",
            new int[] {1, 2, 3},
            new StopConditions(maxTokens, List.of(), List.of(), minTokens, false),
            SamplingOptions.DEFAULTS,
            OutputOptions.DEFAULTS,
            new int[] {9},
            null,
            List.of(),
            RoutingHints.NONE,
            Map.of());
    new LegDispatcher(
            workers::route,
            workers,
            _ -> List.of(),
            legs,
            new MigrationRules(migrationLimit),
            metrics,
            new Stages(metrics, Tracing.OFF),
            Runnable::run,
            timer)
        .generate(model(), request, context(), trail)
        .subscribe(client);
  }

  private static ServedModel model() {
    var card = TestCard.named("tiny").build();
    return new ServedModel(card, ENDPOINT, new NoText(), 0);
  }
}
