package io.dynamo.worker.engine.sglang;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

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
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Puts a worker's engine to sleep, before a server that lists what it was made to do. */
class SglangSleepTest {
  private static final String CACHE = "{\"tags\":[\"kv_cache\"]}";
  private static final String ALL = "{\"tags\":[\"kv_cache\",\"weights\"]}";

  private static final String UPDATE =
      "/update_weights_from_disk{\"model_path\":\"tiny-model/hf\"}";

  private FakeSglang server;
  private SleepableEngine engine;
  private String info;

  @BeforeEach
  void serve() throws Exception {
    server = new FakeSglang();
    info = server.info;
    var memory = new ServerMemory();
    engine =
        new SleepableEngine(
            new SleepableEngine.Source() {
              @Override
              public EngineParts make() {
                var one = remote(memory);
                return new EngineParts(one, one, listener -> {});
              }

              @Override
              public void forgetWeights() {}
            });
    engine.start(EngineContract.DEAF);
  }

  @AfterEach
  void stop() {
    engine.close();
    server.close();
  }

  private RemoteEngine remote(ServerMemory memory) {
    var twentySeconds = Duration.ofSeconds(20);
    return new RemoteEngine(
        SharedLoops.LOOPS,
        new RemoteConfig(
            server.address(), null, null, twentySeconds, twentySeconds, 4, 4096, 4096, 1, 8),
        new SglangDialect(new RemoteWishes(null, null, null, null, 4, 4096), memory),
        null);
  }

  private void requireAnswer() throws Exception {
    var got = Collected.all(engine.generate(Requests.of(new int[] {5, 6}, 3), Requests.context()));
    assertThat(got.ended().failure()).isNull();
    assertThat(got.tokens()).hasSize(3);
  }

  @Test
  void theCacheIsReleasedAndTakenAgain() throws Exception {
    assertThat(server.commands).as("nothing was released").isEmpty();
    engine.sleep(false);
    engine.wake();
    assertThat(server.commands)
        .containsExactly("/release_memory_occupation" + CACHE, "/resume_memory_occupation" + CACHE);
    requireAnswer();
  }

  @Test
  void weightsAreReadFromDiskAgain() throws Exception {
    engine.sleep(true);
    engine.wake();
    assertThat(server.commands)
        .containsExactly(
            "/release_memory_occupation" + ALL,
            "/resume_memory_occupation" + ALL,
            "/update_weights_from_disk{\"model_path\":\"tiny-model/hf\"}");
    requireAnswer();
  }

  @Test
  void aServerThatStaysBusyKeepsItsMemory() throws Exception {
    server.flushed = 400;
    assertThat(engine.sleep(true)).isTrue();
    assertThat(server.commands).isEmpty();
    server.flushed = 200;
    engine.wake();
    assertThat(server.commands).isEmpty();
    requireAnswer();
  }

  private void requireAwake(String... before) throws Exception {
    assertThat(server.crashed).isFalse();
    assertThat(server.resident).isTrue();
    assertThat(server.commands).startsWith(before);
    requireAnswer();
  }

  private void startAnew(int seed) {
    server.info = info.replaceFirst("\\{", "{\"random_seed\":" + seed + ",");
  }

  @Test
  void weightsThatCannotBeReadAtOnceAreReadByTheNextWake() throws Exception {
    server.updates.add(500);
    engine.sleep(true);
    assertThatThrownBy(engine::wake).hasMessageContaining("500 to /update_weights_from_disk");
    engine.wake();
    assertThat(server.commands)
        .containsExactly(
            "/release_memory_occupation" + ALL, "/resume_memory_occupation" + ALL, UPDATE, UPDATE);
    requireAwake("/release_memory_occupation" + ALL);
  }

  @Test
  void aLostAnswerToTheReleaseIsNotForgotten() throws Exception {
    server.lostAnswer = "/release_memory_occupation";
    engine.sleep(true);
    engine.wake();
    requireAwake("/release_memory_occupation" + ALL, "/resume_memory_occupation" + ALL, UPDATE);
  }

  @Test
  void memoryIsNotTakenTwiceWhereTheAnswerIsLost() throws Exception {
    engine.sleep(true);
    server.lostAnswer = "/resume_memory_occupation";
    engine.wake();
    requireAwake("/release_memory_occupation" + ALL, "/resume_memory_occupation" + ALL, UPDATE);
  }

  @Test
  void aServerThatWasStartedAnewHasItsMemory() throws Exception {
    startAnew(1);
    engine.sleep(true);
    server.resident = true;
    startAnew(2);
    engine.wake();
    requireAwake("/release_memory_occupation" + ALL);
    assertThat(server.commands).hasSize(1);
  }

  @Test
  void aServerThatFailsToFlushIsNotAskedAgain() {
    server.flushed = 404;
    engine.sleep(true);
    assertThat(server.flushes).hasValue(1);
    assertThat(server.commands).isEmpty();
  }

  @Test
  void aServerThatDoesNotAnswerTheFlushKeepsItsMemory() {
    server.flushed = 0;
    assertTimeoutPreemptively(Duration.ofSeconds(30), () -> engine.sleep(true));
    assertThat(server.flushes).hasValue(1);
    assertThat(server.commands).isEmpty();
  }
}
