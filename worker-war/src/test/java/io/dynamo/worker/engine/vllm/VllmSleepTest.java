package io.dynamo.worker.engine.vllm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.dynamo.error.Migratable;
import io.dynamo.worker.engine.Collected;
import io.dynamo.worker.engine.EngineContract;
import io.dynamo.worker.engine.EngineParts;
import io.dynamo.worker.engine.Requests;
import io.dynamo.worker.engine.SharedLoops;
import io.dynamo.worker.engine.SleepableEngine;
import io.dynamo.worker.engine.remote.RemoteConfig;
import io.dynamo.worker.engine.remote.RemoteEngine;
import io.dynamo.worker.engine.remote.RemoteWishes;
import io.dynamo.worker.engine.remote.ServerMemory;
import io.dynamo.worker.engine.vllm.VllmDialect.TokenRoute;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Puts a worker's engine to sleep, before a server that lists what it was made to do. */
class VllmSleepTest {
  private static final String[] READ_AGAIN = {
    "/wake_up?tags=weights",
    "/collective_rpc{\"method\":\"reload_weights\"}",
    "/wake_up?tags=kv_cache"
  };

  private FakeVllm server;
  private SleepableEngine engine;

  @BeforeEach
  void serve() throws Exception {
    server = new FakeVllm();
    engine = newEngine();
  }

  @AfterEach
  void stop() {
    engine.close();
    server.close();
  }

  private SleepableEngine newEngine() {
    var memory = new ServerMemory();
    return new SleepableEngine(
        new SleepableEngine.Source() {
          @Override
          public EngineParts make() {
            var one = remote(memory);
            return new EngineParts(one, one, listener -> {});
          }

          @Override
          public void forgetWeights() {}
        });
  }

  private RemoteEngine remote(ServerMemory memory) {
    return remote(memory, Duration.ofSeconds(20));
  }

  private RemoteEngine remote(ServerMemory memory, Duration start) {
    return new RemoteEngine(
        SharedLoops.LOOPS,
        new RemoteConfig(
            server.address(), null, null, start, Duration.ofSeconds(20), 4, 4096, 4096, 1, 8),
        new VllmDialect(
            new RemoteWishes(null, null, null, null, 4, 4096),
            TokenRoute.IF_OFFERED,
            Map.of(),
            memory),
        null);
  }

  private void requireAnswer() throws Exception {
    var got = Collected.all(engine.generate(Requests.of(new int[] {5, 6}, 3), Requests.context()));
    assertThat(got.ended().failure()).isNull();
    assertThat(got.tokens()).hasSize(3);
  }

  @Test
  void theServerSleepsOnceItsGenerationsHaveEnded() throws Exception {
    engine.start(EngineContract.DEAF);
    var running =
        Collected.all(engine.generate(Requests.endless(new int[] {5}, 400), Requests.context()))
            .begun();
    assertThat(engine.sleep(false)).isTrue();
    assertThat(running.ended().failure()).isInstanceOf(Migratable.class);
    assertThat(server.commands).containsExactly("/sleep?level=1");
    assertThat(server.sleeping).isTrue();
  }

  @Test
  void weightsThatWereKeptComeBackAsTheyWere() throws Exception {
    engine.start(EngineContract.DEAF);
    engine.sleep(false);
    engine.wake();
    assertThat(server.commands).containsExactly("/sleep?level=1", "/wake_up");
    requireAnswer();
  }

  @Test
  void weightsThatWereDroppedAreReadAgainWithTheAdapters() throws Exception {
    engine.start(EngineContract.DEAF);
    engine.loadAdapter("poet", Path.of("/adapters/poet"));
    engine.sleep(true);
    engine.wake();
    assertThat(server.commands)
        .containsSubsequence("load poet", "/sleep?level=2")
        .containsSubsequence(READ_AGAIN)
        .endsWith("unload poet", "load poet");
    requireAnswer();
    server.commands.clear();
    engine.sleep(false);
    engine.wake();
    assertThat(server.commands).containsExactly("/sleep?level=1", "/wake_up");
  }

  @Test
  void anAdapterThatCannotBeReadAgainDoesNotKeepTheServerAsleep() throws Exception {
    server.adapters.put("poet", "/adapters/poet"); // of the server's start
    server.updatesAdapters = false;
    engine.start(EngineContract.DEAF);
    engine.sleep(true);
    engine.wake();
    assertThat(server.commands).endsWith(READ_AGAIN);
    requireAnswer();
  }

  @Test
  void aLostAnswerToTheSleepIsNotForgotten() throws Exception {
    engine.start(EngineContract.DEAF);
    server.losesAnswer = true;
    engine.sleep(true);
    engine.wake();
    assertThat(server.commands).containsSubsequence("/sleep?level=2").endsWith(READ_AGAIN);
    requireAnswer();
  }

  @Test
  void anAdapterThatFailsToLoadIsLoadedByTheNextWake() throws Exception {
    server.adapters.put("poet", "/adapters/poet"); // of another worker
    engine.start(EngineContract.DEAF);
    engine.sleep(true);
    server.brokenAdapters.add("/adapters/poet");
    engine.wake();
    assertThat(server.commands).endsWith("unload poet");
    requireAnswer();
    server.brokenAdapters.clear();
    engine.sleep(false);
    engine.wake();
    assertThat(server.commands).endsWith("/wake_up", "load poet");
    engine.sleep(false);
    engine.wake();
    assertThat(server.commands).endsWith("/sleep?level=1", "/wake_up");
  }

  @Test
  void anOwnAdapterThatFailsToLoadDoesNotKeepTheWorkerAsleep() throws Exception {
    engine.start(EngineContract.DEAF);
    engine.loadAdapter("poet", Path.of("/adapters/poet"));
    engine.loadAdapter("singer", Path.of("/adapters/singer"));
    engine.sleep(true);
    server.brokenAdapters.add("/adapters/poet");
    assertThat(engine.wake()).isTrue();
    assertThat(server.adapters).containsOnlyKeys("singer");
    requireAnswer();
  }

  @Test
  void anAdapterThatWasUnloadedAsleepDoesNotComeBack() {
    engine.start(EngineContract.DEAF);
    engine.loadAdapter("poet", Path.of("/adapters/poet"));
    engine.sleep(false);
    engine.unloadAdapter("poet");
    engine.wake();
    assertThat(server.adapters).isEmpty();
    server.commands.clear();
    engine.sleep(false);
    engine.wake();
    assertThat(server.commands).containsExactly("/sleep?level=1", "/wake_up");
  }

  @Test
  void aServerThatAnotherPutToSleepIsWokenByTheStart() throws Exception {
    server.sleeping = true;
    server.slept = "discard_all";
    engine.start(EngineContract.DEAF);
    assertThat(server.commands).as("its weights are gone").containsExactly(READ_AGAIN);
    requireAnswer();
  }

  @Test
  void weightsThatAnotherKeptAreNotReadAgain() throws Exception {
    server.sleeping = true;
    server.slept = "weights_offloaded";
    engine.start(EngineContract.DEAF);
    assertThat(server.commands).containsExactly("/wake_up");
    requireAnswer();
  }

  @Test
  void aServerThatIsPausedIsAwaitedAndNotWoken() {
    server.sleeping = true;
    try (var hasty = remote(new ServerMemory(), Duration.ofMillis(300))) {
      assertThatThrownBy(() -> hasty.start(EngineContract.DEAF))
          .hasMessageContaining("was not ready within PT0.3S (it is paused");
    }
    assertThat(server.commands).isEmpty();
    server.sleeping = false;
    engine.start(EngineContract.DEAF);
    assertThat(server.commands).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "<html>", "[true]", "{\"is_sleeping\":\"true\"}"})
  void aStateThatCannotBeReadCountsAsAwake(String answer) throws Exception {
    server.sleepAnswer = answer;
    engine.start(EngineContract.DEAF);
    assertThat(server.commands).isEmpty();
    requireAnswer();
  }

  @Test
  void closingEndsASleepThatTheServerDoesNotAnswer() throws Exception {
    engine.start(EngineContract.DEAF);
    server.hangs = true;
    var sleeping = Thread.ofVirtual().start(() -> engine.sleep(true));
    assertThat(server.hanging.await(20, TimeUnit.SECONDS)).isTrue();
    assertTimeoutPreemptively(Duration.ofSeconds(20), () -> engine.close());
    assertThat(sleeping.join(Duration.ofSeconds(20))).isTrue();
  }

  @Test
  void aServerWithoutSuchRoutesKeepsItsMemory() throws Exception {
    server.canSleep = false;
    engine.start(EngineContract.DEAF);
    assertThat(engine.sleep(true)).isTrue();
    assertThatThrownBy(() -> engine.generate(Requests.of(new int[] {5}, 1), Requests.context()))
        .isInstanceOf(Migratable.class);
    engine.wake();
    assertThat(server.commands).isEmpty();
    requireAnswer();
  }
}
