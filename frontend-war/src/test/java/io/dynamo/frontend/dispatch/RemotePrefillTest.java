package io.dynamo.frontend.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.WorkerSet;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.NoWorkerException;
import io.dynamo.frontend.TestCard;
import io.dynamo.frontend.catalog.CompanionSets;
import io.dynamo.frontend.catalog.PrefillSet;
import io.dynamo.frontend.catalog.PrefillSet.Rendezvous;
import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.frontend.preprocess.NoText;
import io.dynamo.frontend.watch.Stages;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.OutputOptions;
import io.dynamo.inference.PassedOn;
import io.dynamo.inference.RoutingHints;
import io.dynamo.inference.SamplingOptions;
import io.dynamo.inference.StopConditions;
import io.dynamo.inference.Usage;
import io.dynamo.kv.WorkerRank;
import io.dynamo.metrics.Metrics;
import io.dynamo.request.RequestContext;
import io.dynamo.router.KvRouter;
import io.dynamo.router.LocalPrefill;
import io.dynamo.router.RouteDecision;
import io.dynamo.router.RouteRequest;
import io.dynamo.trace.Tracing;
import java.math.BigInteger;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Generations whose prompt is computed by one worker and whose answer by another. */
class RemotePrefillTest {
  private static final String WHOLE = "x-bypass-remote-prefill";
  private static final EndpointId PREFILL = new EndpointId("dynamo", "prefill", "generate");
  private static final EndpointId DECODE = new EndpointId("dynamo", "backend", "generate");
  private static final InstanceId FIRST = new InstanceId(-1); // unsigned: above 2^63
  private static final InstanceId SECOND = new InstanceId(12);

  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
  private final PlayedWorkers workers = new PlayedWorkers();
  private final RecordingClient client = new RecordingClient();
  private final RouteTrace trail = new RouteTrace();
  private final Cancellation cancellation = new Cancellation();
  private final List<RouteRequest> routed = new ArrayList<>();
  private final Map<InstanceId, Rendezvous> rendezvous = new HashMap<>();
  private List<InstanceId> prefillers = List.of(FIRST, SECOND);
  private List<InstanceId> decoders = List.of(new InstanceId(1), new InstanceId(2));
  private RoutingHints routing = RoutingHints.NONE;
  private @Nullable WorkerRank local; // that computes prompts itself
  private int open; // decisions that are not closed

  @AfterEach
  void stopTimer() {
    timer.shutdownNow();
  }

  private RouteDecision route(RouteRequest request) {
    routed.add(request);
    var pinned = request.hints().pinnedWorker();
    for (var id : request.endpoint().equals(PREFILL) ? prefillers : decoders) {
      if (!request.excluded().contains(id) && (pinned == null || pinned.equals(id))) {
        open++;
        return new ChosenWorker(request, id, () -> open--);
      }
    }
    throw new NoWorkerException(request.endpoint(), 1, request.excluded().size());
  }

  /** Routes by {@link #route}, and lets {@link #local} compute prompts, where it is set. */
  private final class PlayedRouter implements KvRouter, LocalPrefill {
    @Override
    public RouteDecision route(RouteRequest request) {
      return RemotePrefillTest.this.route(request);
    }

    @Override
    public @Nullable WorkerRank localPrefill(RouteRequest decode, RouteRequest prefill) {
      assertThat(decode.endpoint()).isEqualTo(DECODE);
      assertThat(prefill.endpoint()).isEqualTo(PREFILL);
      return local;
    }
  }

  private void generate() {
    var decoder =
        new ServedModel(
            TestCard.named("tiny").workerType("decode").build(), DECODE, new NoText(), 0);
    var card = TestCard.named("tiny").workerType("prefill").blockTokens(32).build();
    var set = new PrefillSet(WorkerSet.of(PREFILL, card), card, rendezvous);
    var sets =
        new CompanionSets() {
          @Override
          public List<ServedModel> successors(ServedModel lost) {
            return List.of();
          }

          @Override
          public Optional<PrefillSet> prefill(ServedModel of) {
            return Optional.of(set);
          }
        };
    var metrics = new Metrics();
    new LegDispatcher(
            new PlayedRouter(),
            workers,
            sets,
            new PlainLegs(),
            new MigrationRules(3),
            metrics,
            new Stages(metrics, Tracing.OFF),
            Runnable::run,
            timer)
        .generate(
            decoder,
            new GenerateRequest(
                "tiny",
                new int[] {1, 2, 3},
                new StopConditions(10, List.of(), List.of(), null, false),
                SamplingOptions.DEFAULTS,
                OutputOptions.DEFAULTS,
                new int[] {9},
                null,
                List.of(WHOLE), // a client must not say so
                routing,
                Map.of()),
            new RequestContext(
                "r", Map.of(), Map.of(), Deadline.after(Duration.ofMinutes(1)), cancellation),
            trail)
        .subscribe(client);
  }

  private static EngineOutput item(@Nullable FinishReason finish, Object params, int... tokens) {
    return new EngineOutput(
        tokens,
        null,
        finish,
        null,
        0,
        new Usage(3, 1, 2),
        null,
        null,
        PassedOn.of(Map.of("disaggregated_params", params)));
  }

  private PlayedWorkers.Call prefillCall() {
    return Objects.requireNonNull(workers.calls.peekFirst());
  }

  @Test
  void theDecodeWorkerGetsWhatThePrefillWorkerSays() {
    generate();
    assertThat(workers.calls).as("the decode worker waits").hasSize(1);
    var prefill = prefillCall();
    assertThat(prefill.instance.id()).isEqualTo(FIRST);
    assertThat(prefill.request.stop().maxTokens()).isEqualTo(1);
    assertThat(prefill.request.annotations()).isEmpty();
    assertThat(prefill.request.handoff().bootstrap()).isNull();
    assertThat(routed.getFirst().blockTokens()).isEqualTo(32);
    prefill.emit(item(FinishReason.LENGTH, Map.of("remote_port", 5), 100)).end();

    var decode = workers.last();
    assertThat(decode.instance.id()).isEqualTo(new InstanceId(1));
    assertThat(decode.request.stop().maxTokens()).isEqualTo(10);
    assertThat(decode.request.annotations()).isEmpty();
    var result = Objects.requireNonNull(decode.request.handoff().prefill());
    assertThat(result.params()).isEqualTo(Map.of("remote_port", 5));
    assertThat(result.promptTokensDetails()).isEqualTo(Map.of("cached_tokens", 2));
    assertThat(decode.request.routing().passedOn().fields())
        .containsEntry("prefill_worker_id", new BigInteger("18446744073709551615"))
        .containsEntry("prefill_dp_rank", 0);
    assertThat(routed.getLast().hints().override().trackPrefillTokens()).isFalse();
    assertThat(routed.getLast().hints().override().assumeKvReuse()).isFalse();

    decode.say(100, 101).finish(FinishReason.STOP, new Usage(3, 2, 0));
    assertThat(client.tokens)
        .as("the prefill worker's token is not one more")
        .containsExactly(100, 101);
    assertThat(client.completed).isTrue();
    assertThat(open).isZero();
    assertThat(Objects.requireNonNull(trail.prefill()).worker()).isEqualTo(FIRST);
    assertThat(Objects.requireNonNull(trail.latest()).worker()).isEqualTo(new InstanceId(1));
  }

  @Test
  void bothAreCalledAtOnceWhereTheyHaveARendezvous() {
    rendezvous.put(FIRST, new Rendezvous("prefill.host", 5000, 4));
    generate();
    assertThat(workers.calls).hasSize(2);
    var meeting = Objects.requireNonNull(prefillCall().request.handoff().bootstrap());
    assertThat(meeting.host()).isEqualTo("prefill.host");
    assertThat(meeting.port()).isEqualTo(5000);
    assertThat(meeting.room()).isNotNegative();
    assertThat(meeting.room() % 4).as("tells the rank").isZero();
    assertThat(workers.last().request.handoff().bootstrap()).isEqualTo(meeting);
    prefillCall().emit(item(FinishReason.LENGTH, "dummy", 100)).end();
    workers.last().say(100).finish(FinishReason.STOP, null);
    assertThat(client.tokens).containsExactly(100);
    assertThat(open).isZero();
  }

  @Test
  void aRendezvousInThePrefillWorkersFirstItemStartsTheDecodeWorkerAtOnce() {
    generate();
    prefillCall()
        .emit(
            item(null, Map.of("bootstrap_host", "h", "bootstrap_port", 7, "bootstrap_room", 42L)));
    assertThat(workers.calls).hasSize(2);
    var meeting = Objects.requireNonNull(workers.last().request.handoff().bootstrap());
    assertThat(meeting.room()).isEqualTo(42);
    prefillCall().end();
    workers.last().finish(FinishReason.STOP, null);
    assertThat(client.completed).isTrue();
  }

  @Test
  void anAnswerWithoutParametersIsAnError() {
    generate();
    prefillCall().say(100).finish(FinishReason.LENGTH, null);
    assertThat(workers.calls).hasSize(1);
    assertThat(client.code()).isEqualTo(ErrorCode.BACKEND_UNKNOWN);
    assertThat(open).isZero();
  }

  @Test
  void parametersWithoutTheIdOfTheBlocksAreAnError() {
    generate();
    prefillCall()
        .emit(item(FinishReason.LENGTH, Map.of("request_type", "context_only"), 100))
        .end();
    assertThat(workers.calls).hasSize(1);
    assertThat(client.code()).isEqualTo(ErrorCode.BACKEND_UNKNOWN);
  }

  @Test
  void anAnswerThatEndsWithItsFirstTokenIsTheWholeAnswer() {
    generate();
    prefillCall().emit(item(FinishReason.EOS, Map.of("remote_port", 5), 9)).end();
    assertThat(workers.calls).hasSize(1);
    assertThat(client.finish).isEqualTo(FinishReason.EOS);
    assertThat(client.completed).isTrue();
    assertThat(open).isZero();
  }

  @Test
  void aLostPrefillWorkerIsReplaced() {
    generate();
    prefillCall().lose();
    assertThat(workers.setAside).containsExactly(FIRST);
    assertThat(workers.last().instance.id()).isEqualTo(SECOND);
    workers.last().emit(item(FinishReason.LENGTH, "blocks", 100)).end();
    assertThat(workers.last().instance.endpoint()).isEqualTo(DECODE);
    workers.last().say(100).finish(FinishReason.STOP, null);
    assertThat(client.tokens).containsExactly(100);
    assertThat(open).isZero();
  }

  @Test
  void withoutAPrefillWorkerThatHasNotFailedTheDecodeWorkerDoesBoth() {
    prefillers = List.of(FIRST);
    generate();
    prefillCall().lose();
    assertThat(workers.last().instance.endpoint()).isEqualTo(DECODE);
    assertThat(workers.last().request.annotations()).containsExactly(WHOLE);
    assertThat(workers.last().request.handoff().prefill()).isNull();
    workers.last().say(100).finish(FinishReason.STOP, null);
    assertThat(client.tokens).containsExactly(100);
  }

  @Test
  void aPromptThatTheRouterLeavesToADecodeWorkerIsComputedThere() {
    local = new WorkerRank(new InstanceId(2), 0);
    generate();
    assertThat(workers.last().instance.id()).isEqualTo(new InstanceId(2));
    assertThat(workers.last().request.annotations()).containsExactly(WHOLE);
    assertThat(workers.last().request.handoff().prefill()).isNull();
    assertThat(routed).extracting(RouteRequest::endpoint).containsExactly(DECODE);
    workers.last().say(100).finish(FinishReason.STOP, null);
    assertThat(client.tokens).containsExactly(100);
    assertThat(open).isZero();
  }

  @Test
  void whenThatWorkerIsGoneAnyOtherComputesThePrompt() {
    local = new WorkerRank(new InstanceId(7), 0);
    generate();
    assertThat(workers.last().instance.id()).isEqualTo(decoders.getFirst());
    assertThat(workers.last().request.annotations()).containsExactly(WHOLE);
    workers.last().say(100).finish(FinishReason.STOP, null);
    assertThat(client.tokens).containsExactly(100);
  }

  @Test
  void aClientsPrefillWorkerIsAskedWhateverTheRouterWouldLeave() {
    local = new WorkerRank(new InstanceId(2), 0);
    routing =
        new RoutingHints(null, PassedOn.of(Map.of("prefill_worker_id", BigInteger.valueOf(12))));
    generate();
    assertThat(prefillCall().instance.endpoint()).isEqualTo(PREFILL);
  }

  @Test
  void aDecodeWorkerWhosePrefillIsLostStopsWaitingForItsBlocks() {
    rendezvous.put(FIRST, new Rendezvous("h", 5000, 1));
    generate();
    var waiting = workers.last();
    prefillCall().lose();
    assertThat(waiting.context.cancellation().level()).isEqualTo(Cancellation.Level.KILL);
    waiting.end(); // a killed stream ends without a finish reason
    assertThat(workers.setAside).as("the decode worker is not to blame").containsExactly(FIRST);
    var again = workers.last();
    assertThat(again.instance.id()).isEqualTo(SECOND);
    again.emit(item(FinishReason.LENGTH, "blocks", 100)).end();
    workers.last().say(100).finish(FinishReason.STOP, null);
    assertThat(client.tokens).containsExactly(100);
    assertThat(client.completed).isTrue();
    assertThat(open).isZero();
  }

  @Test
  void aDecodeWorkerWithTokensNeedsThePrefillWorkerNoMore() {
    rendezvous.put(FIRST, new Rendezvous("h", 5000, 1));
    generate();
    var decode = workers.last().say(100);
    prefillCall().lose();
    decode.say(101).finish(FinishReason.STOP, null);
    assertThat(client.tokens).containsExactly(100, 101);
    assertThat(client.failure).isNull();
  }

  @Test
  void theNextLegComputesPromptAndTokensSoFarAgain() {
    generate();
    prefillCall().emit(item(FinishReason.LENGTH, "blocks", 100)).end();
    workers.last().say(100, 101).lose();
    var second = workers.last();
    assertThat(second.instance.endpoint()).isEqualTo(PREFILL);
    assertThat(second.request.tokenIds()).containsExactly(1, 2, 3, 100, 101);
    second.emit(item(FinishReason.LENGTH, "more", 102)).end();
    assertThat(workers.last().instance.id()).isEqualTo(new InstanceId(2));
    workers.last().say(102).finish(FinishReason.STOP, null);
    assertThat(client.tokens).containsExactly(100, 101, 102);
    assertThat(open).isZero();
  }

  @Test
  void aLostDecodeWorkerEndsThePrefillThatWasForIt() {
    rendezvous.put(FIRST, new Rendezvous("h", 5000, 1));
    generate();
    var prefill = prefillCall();
    workers.last().lose();
    assertThat(prefill.context.cancellation().level()).isEqualTo(Cancellation.Level.KILL);
  }

  @Test
  void aPrefillWithoutADecodeWorkerEnds() {
    rendezvous.put(FIRST, new Rendezvous("h", 5000, 1));
    decoders = List.of();
    generate();
    assertThat(prefillCall().context.cancellation().level()).isEqualTo(Cancellation.Level.KILL);
    assertThat(client.code()).isEqualTo(ErrorCode.UNAVAILABLE);
    assertThat(open).isZero();
  }

  @Test
  void aClientThatGoesEndsThePrefill() {
    generate();
    client.cancel();
    assertThat(prefillCall().context.cancellation().level()).isEqualTo(Cancellation.Level.KILL);
    prefillCall().end();
    assertThat(workers.calls).hasSize(1);
    assertThat(open).isZero();
  }

  @Test
  void aClientMayNameThePrefillWorker() {
    routing = new RoutingHints(null, PassedOn.of(Map.of("prefill_worker_id", 12L)));
    generate();
    assertThat(prefillCall().instance.id()).isEqualTo(SECOND);
    assertThat(routed.getFirst().hints().pinnedWorker()).isEqualTo(SECOND);
  }

  @Test
  void aNamedPrefillWorkerThatIsNotThereIsAnError() {
    routing = new RoutingHints(null, PassedOn.of(Map.of("prefill_worker_id", 77L)));
    generate();
    assertThat(workers.calls).isEmpty();
    assertThat(client.code()).isEqualTo(ErrorCode.UNAVAILABLE);
  }

  @Test
  void aRankOfTheNamedDecodeWorkerIsNoRankForThePrefill() {
    routing = new RoutingHints(3, PassedOn.of(Map.of("decode_worker_id", 2L)));
    generate();
    assertThat(routed.getFirst().hints().pinnedRank()).isNull();
    prefillCall().emit(item(FinishReason.LENGTH, "blocks", 100)).end();
    assertThat(routed.getLast().hints().pinnedRank()).isEqualTo(3);
  }
}
