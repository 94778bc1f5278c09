package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dynamo.concurrent.ItemStream;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.WorkerLostException;
import io.dynamo.frontend.dispatch.Generation;
import io.dynamo.frontend.dispatch.GenerationLegs;
import io.dynamo.frontend.dispatch.LegDispatcher;
import io.dynamo.frontend.dispatch.LegLostException;
import io.dynamo.frontend.dispatch.WorkerCalls;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.Logprobs;
import io.dynamo.inference.PassedOn;
import io.dynamo.inference.Usage;
import io.dynamo.kv.WorkerRank;
import io.dynamo.net.PayloadFormat;
import io.dynamo.request.RequestContext;
import io.dynamo.router.RouteDecision;
import io.dynamo.router.RouteRequest;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executors;
import java.util.concurrent.Flow;
import java.util.concurrent.ScheduledExecutorService;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a client sees of a generation whose worker is lost in its middle: nothing. */
class MigrationSeamTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final FrontendFixture frontend = new FrontendFixture();
  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
  private final Workers workers = new Workers();

  @BeforeEach
  void dispatchForReal() {
    frontend.through =
        new LegDispatcher(
            Workers::route,
            workers,
            MigrationSeamTest::run,
            3,
            frontend.metrics,
            Runnable::run,
            timer);
  }

  @AfterEach
  void close() {
    assertThat(frontend.admission.admitted()).isZero();
    timer.shutdownNow();
    frontend.close();
  }

  /** What fault tolerance does, without a container. */
  private static CompletionStage<Void> run(Generation generation) {
    return new GenerationLegs()
        .run(generation)
        .handle(
            (_, failure) -> {
              var cause = failure instanceof CompletionException ? failure.getCause() : failure;
              if (cause == null) {
                return CompletableFuture.<Void>completedFuture(null);
              }
              return cause instanceof LegLostException
                  ? run(generation)
                  : CompletableFuture.<Void>failedFuture(cause);
            })
        .thenCompose(next -> next);
  }

  private static String ask(String more) {
    return "{\"model\":\"script\",\"prompt\":\"p\"" + more + "}";
  }

  private JsonNode post(String more) throws IOException {
    frontend.api = TextService.COMPLETIONS;
    var answer = frontend.post(ask(more));
    assertThat(answer.status).as(answer.text()).isEqualTo(200);
    return JSON.readTree(answer.text());
  }

  private static List<EngineOutput> says(String text) {
    return text.codePoints().mapToObj(EngineOutput::ofTokens).toList();
  }

  @Test
  void aStopStringThatSpansTheSeamIsFound() throws Exception {
    workers.plays("", new Leg(says("one ST"), false), new Leg(says("OP two"), true));
    var answer = post(",\"stop\":\"STOP\",\"max_tokens\":50");
    assertThat(answer.at("/choices/0/text").asText()).isEqualTo("one ");
    assertThat(answer.at("/choices/0/finish_reason").asText()).isEqualTo("stop");
    assertThat(answer.at("/usage/completion_tokens").asInt()).isEqualTo("one STOP".length());
    assertThat(workers.asked).hasSize(2);
    assertThat(workers.asked.getLast().stop().stop()).containsExactly("STOP");
    assertThat(workers.asked.getLast().stop().maxTokens()).isEqualTo(50 - "one ST".length());
  }

  @Test
  void aPromisingBeginningBeforeTheSeamIsGivenBackWhenTheStopDoesNotCome() throws Exception {
    workers.plays("", new Leg(says("one ST"), false), new Leg(says("ART"), true));
    assertThat(post(",\"stop\":\"STOP\"").at("/choices/0/text").asText()).isEqualTo("one START");
  }

  @Test
  void logprobsGoOnAcrossTheSeamWithTheirPlacesInTheText() throws Exception {
    workers.plays(
        "", new Leg(List.of(rated('a', -0.5)), false), new Leg(List.of(rated('b', -1.5)), true));
    var logprobs = post(",\"logprobs\":1").at("/choices/0/logprobs");
    assertThat(logprobs.toString())
        .isEqualTo(
            "{\"tokens\":[\"a\",\"b\"],\"token_logprobs\":[-0.5,-1.5],"
                + "\"top_logprobs\":[{\"a\":-0.5},{\"b\":-1.5}],\"text_offset\":[0,1]}");
    assertThat(workers.asked.getLast().output().logprobs()).isEqualTo(1);
  }

  private static EngineOutput rated(int token, double logprob) {
    return new EngineOutput(
        new int[] {token},
        null,
        null,
        null,
        0,
        null,
        new Logprobs(logprob, new double[] {logprob}, List.of()),
        null,
        PassedOn.NONE);
  }

  @Test
  void eachChoiceMovesByItself() throws Exception {
    workers.plays("-0", new Leg(says("ab"), false), new Leg(says("cd"), true));
    workers.plays("-1", new Leg(says("xyz"), true));
    var answer = post(",\"n\":2,\"seed\":40");
    assertThat(answer.at("/choices/0/text").asText()).isEqualTo("abcd");
    assertThat(answer.at("/choices/1/text").asText()).isEqualTo("xyz");
    assertThat(answer.at("/usage/completion_tokens").asInt()).isEqualTo(7);
    assertThat(workers.asked).extracting(it -> it.sampling().seed()).containsExactly(40L, 40L, 41L);
    assertThat(workers.asked.get(1).tokenIds()).endsWith('a', 'b');
    assertThat(workers.asked.get(2).tokenIds()).hasSize(5);
  }

  @Test
  void aChoiceThatIsLostForGoodEndsTheOthers() {
    frontend.api = TextService.COMPLETIONS;
    workers.plays("-0", new Leg(says("a"), false));
    workers.plays("-1", new Leg(says("b"), false, true));
    var answer = frontend.post(ask(",\"n\":2"));
    assertThat(answer.status).isEqualTo(503);
    assertThat(workers.cancelled).contains("-1");
  }

  @Test
  void aTextOfAGivenFormIsNotContinuedElsewhere() {
    workers.plays("", new Leg(says("{\"a"), false), new Leg(says("{}"), true));
    var guided = ",\"guided_regex\":\"[a-z]+\"";
    frontend.api = TextService.COMPLETIONS;
    assertThat(frontend.post(ask(guided)).status).isEqualTo(503);
    assertThat(workers.asked).hasSize(1);
  }

  @Test
  void aTextOfAGivenFormStartsElsewhereWhenNothingOfItWasSaid() throws Exception {
    workers.plays("", new Leg(List.of(), false), new Leg(says("abc"), true));
    assertThat(post(",\"guided_regex\":\"[a-z]+\"").at("/choices/0/text").asText())
        .isEqualTo("abc");
  }

  @Test
  void aWorkerThatTheClientNamedIsNotReplaced() {
    workers.plays("", new Leg(says("a"), false), new Leg(says("b"), true));
    frontend.api = TextService.COMPLETIONS;
    var answer = frontend.post(ask(",\"nvext\":{\"backend_instance_id\":1}"));
    assertThat(answer.status).isEqualTo(503);
    assertThat(workers.asked).hasSize(1);
  }

  @Test
  void theModelsOwnLimitCountsWhereItNamesOne() throws Exception {
    var legs =
        new Leg[] {new Leg(says("a"), false), new Leg(says("b"), false), new Leg(says("c"), true)};
    frontend.api = TextService.COMPLETIONS;
    frontend.migrationLimit = 1;
    workers.plays("", legs);
    assertThat(frontend.post(ask("")).status).isEqualTo(503);
    frontend.migrationLimit = 0; // as every card of Dynamo has it: the frontend's rules
    workers.plays("", legs);
    assertThat(post("").at("/choices/0/text").asText()).isEqualTo("abc");
  }

  /**
   * @param ends regularly; else its worker is lost
   * @param hangs neither
   */
  private record Leg(List<EngineOutput> items, boolean ends, boolean hangs) {
    Leg(List<EngineOutput> items, boolean ends) {
      this(items, ends, false);
    }
  }

  /** Workers that play legs, by the end of the request's id. */
  private static final class Workers implements WorkerCalls {
    private final Map<String, Deque<Leg>> legs = new HashMap<>();
    final List<GenerateRequest> asked = new ArrayList<>();
    final List<String> cancelled = new ArrayList<>();

    void plays(String text, Leg... all) {
      legs.put(text, new ArrayDeque<>(List.of(all)));
    }

    static RouteDecision route(RouteRequest request) {
      var id = new InstanceId(1 + request.excluded().size());
      var instance =
          new Instance(
              request.endpoint(),
              id,
              new TransportAddress.Tcp("127.0.0.1:1", "p"),
              null,
              PayloadFormat.JSON);
      return new RouteDecision() {
        @Override
        public Instance instance() {
          return instance;
        }

        @Override
        public WorkerRank rank() {
          return new WorkerRank(id, 0);
        }

        @Override
        public int overlapBlocks() {
          return 0;
        }

        @Override
        public void prefillDone() {}

        @Override
        public void close() {}
      };
    }

    @Override
    public Flow.Publisher<EngineOutput> call(
        Instance instance, GenerateRequest request, RequestContext context) {
      asked.add(request);
      var text = context.id().length() > 36 ? context.id().substring(36) : "";
      var leg = legs.getOrDefault(text, new ArrayDeque<>()).poll();
      var stream = new ItemStream<EngineOutput>(64, () -> {}, () -> cancelled.add(text));
      if (leg == null || asked.size() > 100) {
        stream.fail(new WorkerLostException(ErrorCode.CANNOT_CONNECT, "refused"));
        return stream;
      }
      leg.items().forEach(stream::offer);
      if (leg.ends()) {
        stream.offer(EngineOutput.finish(FinishReason.LENGTH, new Usage(99, 1, null)));
        stream.complete();
      } else if (!leg.hangs()) {
        stream.fail(new WorkerLostException(ErrorCode.DISCONNECTED, "reset by peer"));
      }
      return stream;
    }

    @Override
    public void setAside(EndpointId endpoint, InstanceId worker) {}
  }
}
