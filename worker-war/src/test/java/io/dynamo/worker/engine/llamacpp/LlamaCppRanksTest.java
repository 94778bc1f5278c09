package io.dynamo.worker.engine.llamacpp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.error.ErrorCode;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.WorkerLostException;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.RoutingHints;
import io.dynamo.request.RequestContext;
import io.dynamo.worker.engine.Collected;
import io.dynamo.worker.engine.EngineContract;
import io.dynamo.worker.engine.Requests;
import io.dynamo.worker.engine.SharedLoops;
import io.dynamo.worker.engine.llama.TinyModel;
import io.dynamo.worker.engine.sampling.GenerationDefaults;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests two of llama.cpp's own servers as the ranks of one engine. */
class LlamaCppRanksTest {
  private static final int[] QUESTION = {4088, 333, 198, 529, 220, 275}; // an unfinished turn
  private static final long SECOND = Duration.ofSeconds(1).toNanos();

  @TempDir private Path folder;
  @TempDir private Path otherFolder;
  private final AtomicLong nanos = new AtomicLong();
  private final List<ServerProcess> servers = new ArrayList<>();
  private LlamaCppRanks engine;

  @BeforeEach
  void serve() throws Exception {
    servers.add(ServerProcess.start(folder, 2));
    servers.add(ServerProcess.start(otherFolder, 3));
    engine =
        new LlamaCppRanks(
            SharedLoops.LOOPS,
            servers.stream()
                .map(server -> LlamaCppEngineContractTest.config(server.address()))
                .toList(),
            GenerationDefaults.of(TinyModel.DIRECTORY),
            () -> 42,
            nanos::get);
  }

  @AfterEach
  void close() {
    if (engine != null) {
      engine.close();
    }
    servers.forEach(ServerProcess::close);
  }

  private Collected begin(@Nullable Integer rank, int tokens) {
    var request = Requests.endless(QUESTION, tokens).routedTo(new RoutingHints(rank));
    return Collected.all(engine.generate(request, Requests.context()));
  }

  @Test
  void aRankIsTheServerAtItsPlaceAndDescribedByTheLeastOfAll() throws Exception {
    var description = engine.start(EngineContract.DEAF);
    assertThat(description.ranks()).isEqualTo(2);
    assertThat(description.maxRunning()).isEqualTo(2);
    assertThat(engine.renderedSample()).isNotNull();
    for (int rank = 0; rank < 2; rank++) {
      begin(rank, 3).ended();
      begin(rank, 3).ended();
      assertThat(engine.ranks().get(rank).promptTokens()).isEqualTo(2L * QUESTION.length);
    }
    assertThatThrownBy(() -> begin(2, 3)).isInstanceOf(InvalidRequestException.class);
  }

  @Test
  void aRequestWithoutARankGoesToTheServerWithTheFewest() throws Exception {
    engine.start(EngineContract.DEAF);
    var contexts = new ArrayList<RequestContext>();
    var busy = new ArrayList<Collected>(); // three, so that they outlast the others
    for (int i = 0; i < 3; i++) {
      contexts.add(Requests.context());
      busy.add(
          Collected.all(
              engine.generate(
                  Requests.endless(QUESTION, 4000).routedTo(new RoutingHints(0)),
                  contexts.getLast())));
    }
    busy.getFirst().begun();
    for (int i = 0; i < 3; i++) {
      begin(null, 2).ended();
    }
    assertThat(engine.ranks().get(1).promptTokens()).isEqualTo(3L * QUESTION.length);
    assertThat(engine.running()).isEqualTo(3);
    contexts.forEach(context -> context.cancellation().kill());
    for (var generation : busy) {
      assertThat(generation.ended().last().finishReason()).isEqualTo(FinishReason.CANCELLED);
    }
    assertThat(engine.cancelled()).isEqualTo(3);
    assertThat(engine.lastCancelNanos()).isNotZero();
  }

  @Test
  void aServerThatIsGoneIsAvoidedForAWhile() throws Exception {
    engine.start(EngineContract.DEAF);
    servers.getFirst().close();
    assertLost(begin(null, 2)); // the first of two that are idle
    for (int i = 0; i < 3; i++) {
      assertThat(begin(null, 2).ended().tokens()).hasSize(2);
    }
    assertLost(begin(0, 2)); // who names it gets it
    nanos.addAndGet(6 * SECOND);
    assertLost(begin(null, 2)); // it may be back
  }

  private static void assertLost(Collected generation) throws InterruptedException {
    assertThat(generation.ended().failure())
        .isInstanceOfSatisfying(
            WorkerLostException.class,
            lost -> assertThat(lost.code()).isEqualTo(ErrorCode.BACKEND_ENGINE_SHUTDOWN));
  }
}
