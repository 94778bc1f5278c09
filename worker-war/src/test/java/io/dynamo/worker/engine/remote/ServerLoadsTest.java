package io.dynamo.worker.engine.remote;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.worker.engine.RankLoad;
import io.dynamo.worker.engine.SharedLoops;
import io.dynamo.worker.engine.remote.LoadSource.ServerLoad;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.StreamHandler;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Completes loads by answers of a server, with a clock that the test moves. */
class ServerLoadsTest {
  private static final RankLoad OWN = new RankLoad(3, 0, 20, 0, 100, 7, 1000, 500, 0);

  private final EngineHttp http =
      new EngineHttp(
          SharedLoops.LOOPS,
          "test",
          URI.create("http://127.0.0.1:1"),
          "setting",
          null,
          null,
          EngineHttp.MAX_BODY);
  private final Queue<Runnable> tasks = new ArrayDeque<>();
  private List<ServerLoad> answer = List.of();
  private @Nullable Exception failure;
  private int asked;
  private Duration answerTime = Duration.ZERO;
  private long nanos = Long.MAX_VALUE - 5; // wraps soon, as a clock may
  private final ServerLoads loads =
      new ServerLoads(http, _ -> answer(), "test", tasks::add, () -> nanos);

  private List<ServerLoad> answer() throws IOException {
    asked++;
    pass(answerTime);
    if (failure instanceof IOException e) {
      throw e;
    }
    if (failure instanceof RuntimeException e) {
      throw e;
    }
    return answer;
  }

  @AfterEach
  void close() {
    http.close();
  }

  private void pass(Duration time) {
    nanos += time.toNanos();
  }

  /** Lets the server be asked, and returns what is known afterwards. */
  private RankLoad load() {
    var _ = loads.complete(List.of(OWN));
    while (!tasks.isEmpty()) {
      tasks.remove().run();
    }
    return loads.complete(List.of(OWN)).getFirst();
  }

  private static List<ServerLoad> reported(int running, int waiting, double usage, long tokens) {
    return List.of(new ServerLoad(running, waiting, usage, tokens));
  }

  @Test
  void figuresCountWhileTheTokensChange() {
    answer = reported(8, 2, 0.5, 100);
    assertThat(load()).as("nothing to compare with").isEqualTo(OWN);
    pass(ServerLoads.INTERVAL);
    answer = reported(8, 2, 0.5, 150);
    assertThat(load()).isEqualTo(new RankLoad(8, 2, 50, 0, 100, 7, 1000, 500, 0));
    pass(ServerLoads.INTERVAL);
    assertThat(load()).as("the gauges stand still").isEqualTo(OWN);
    pass(ServerLoads.INTERVAL);
    answer = reported(8, 2, 0.5, 10);
    assertThat(load()).as("the server was started again").isEqualTo(withRequests(8, 2, 50));
  }

  @Test
  void figuresCountWhileAnyOfThemChanges() {
    answer = reported(8, 2, 0.5, 100);
    load();
    for (var next :
        List.of(reported(9, 2, 0.5, 100), reported(9, 3, 0.5, 100), reported(9, 3, 0.6, 100))) {
      answer = next;
      pass(ServerLoads.INTERVAL);
      assertThat(load().waiting()).isEqualTo(next.getFirst().waiting());
      pass(ServerLoads.INTERVAL);
      assertThat(load()).as("the gauges stand still").isEqualTo(OWN);
    }
  }

  @Test
  void answersOfASlowServerCountWhileTheyAreYoung() {
    answerTime = ServerLoads.EXPIRY.minusSeconds(1);
    answer = reported(8, 2, 0.5, 100);
    load();
    pass(ServerLoads.INTERVAL);
    answer = reported(8, 2, 0.5, 150);
    assertThat(load()).isEqualTo(withRequests(8, 2, 50));
    pass(ServerLoads.EXPIRY.minus(answerTime));
    assertThat(loads.complete(List.of(OWN))).as("since it was asked").containsExactly(OWN);
  }

  @Test
  void answersFarApartAreNotCompared() {
    answer = reported(8, 2, 0.5, 100);
    load();
    pass(ServerLoads.COMPARED);
    answer = reported(8, 2, 0.5, 150);
    assertThat(load()).isEqualTo(OWN);
  }

  @Test
  void aFailureAfterTheCloseIsNotLogged() {
    failure = new IOException("closed");
    var logger = Logger.getLogger(ServerLoads.class.getName());
    var records = new ArrayList<LogRecord>();
    var handler =
        new StreamHandler() {
          @Override
          public synchronized void publish(LogRecord each) {
            records.add(each);
          }
        };
    logger.addHandler(handler);
    try {
      loads.close();
      load();
      assertThat(asked).isEqualTo(1);
      assertThat(records).isEmpty();
      var open = new ServerLoads(http, _ -> answer(), "test", Runnable::run, () -> nanos);
      open.complete(List.of(OWN));
      assertThat(records).as("otherwise it is").hasSize(1);
    } finally {
      logger.removeHandler(handler);
    }
  }

  @Test
  void theGreaterOfOwnAndReportedCounts() {
    answer = List.of(new ServerLoad(1, 1, 0.1, null));
    assertThat(load()).as("figures of the moment").isEqualTo(withRequests(2, 1, 20));
    pass(ServerLoads.INTERVAL);
    answer = List.of(new ServerLoad(Integer.MAX_VALUE, Integer.MAX_VALUE, Double.NaN, null));
    assertThat(load()).isEqualTo(withRequests(0, Integer.MAX_VALUE, 20));
    pass(ServerLoads.INTERVAL);
    answer = List.of(new ServerLoad(0, 0, 1e300, null));
    assertThat(load()).isEqualTo(withRequests(3, 0, 100));
  }

  private static RankLoad withRequests(int running, int waiting, int heldBlocks) {
    return new RankLoad(running, waiting, heldBlocks, 0, 100, 7, 1000, 500, 0);
  }

  @Test
  void theServerIsAskedOnceAnIntervalByWhomeverWantsToKnow() {
    answer = reported(1, 0, 0, 1);
    for (int i = 0; i < 10; i++) {
      load();
    }
    assertThat(asked).isEqualTo(1);
    pass(ServerLoads.INTERVAL.minusNanos(1));
    load();
    assertThat(asked).isEqualTo(1);
    pass(Duration.ofNanos(1));
    for (int i = 0; i < 5; i++) {
      loads.complete(List.of(OWN)); // an answer is awaited
    }
    assertThat(tasks).hasSize(1);
    tasks.remove().run();
    assertThat(tasks).as("the next is asked for by a caller").isEmpty();
    assertThat(asked).isEqualTo(2);
  }

  @Test
  void anOldAnswerDoesNotCount() {
    answer = List.of(new ServerLoad(9, 0, 0.9, null));
    assertThat(load().running()).isEqualTo(9);
    pass(ServerLoads.EXPIRY);
    assertThat(loads.complete(List.of(OWN)).getFirst()).isEqualTo(OWN);
  }

  @Test
  void aServerThatFailsIsAskedLessOftenAndTheOwnFiguresCount() {
    answer = List.of(new ServerLoad(9, 0, 0.9, null));
    assertThat(load().running()).isEqualTo(9);
    for (var each : List.of(new IOException("gone"), new IllegalArgumentException("nonsense"))) {
      failure = each;
      int before = asked;
      pass(ServerLoads.AFTER_FAILURE);
      assertThat(load()).isEqualTo(OWN);
      pass(ServerLoads.INTERVAL);
      assertThat(load()).isEqualTo(OWN);
      assertThat(asked).isEqualTo(before + 1);
    }
    failure = null;
    pass(ServerLoads.AFTER_FAILURE);
    assertThat(load().running()).isEqualTo(9);
  }

  @Test
  void ranksThatAreNotReportedKeepTheirOwnFigures() {
    answer = List.of(new ServerLoad(9, 0, 0.9, null));
    load();
    assertThat(loads.complete(List.of(OWN, OWN)).get(1)).isEqualTo(OWN);
  }
}
