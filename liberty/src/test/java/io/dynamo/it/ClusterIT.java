package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Three servers under many streams, with workers that die and workers that leave. */
@Tag("pending")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ClusterIT {
  private static final int STREAMS = 512;
  private static final int TOKENS = 48;
  private static final Duration LIMIT = Duration.ofMinutes(3);

  private Cluster cluster;

  @BeforeAll
  void start() {
    cluster = Cluster.of("cluster", 2);
  }

  @AfterAll
  void stop() {
    cluster.close();
  }

  @Test
  void everyStreamSaysWhatAnUndisturbedRunSaysAlthoughAWorkerDiesAndTheOtherStays()
      throws Exception {
    // the oracle is asked first, one stream at a time, with nothing that fails
    var expected = new ArrayList<String>();
    for (int i = 0; i < STREAMS / 16; i++) {
      try (var client = ask(i)) {
        expected.add(client.text());
      }
    }
    IntFunction<String> oracle = i -> expected.get(i % expected.size());

    var flowing = new CountDownLatch(STREAMS / 2);
    try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<String>> texts = new ArrayList<>();
      for (int i = 0; i < STREAMS; i++) {
        int prompt = i % expected.size();
        texts.add(executor.submit(() -> textOf(prompt, flowing)));
      }
      assertThat(flowing.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();

      cluster.worker(0).kill();

      for (int i = 0; i < STREAMS; i++) {
        assertThat(texts.get(i).get(LIMIT.toSeconds(), TimeUnit.SECONDS))
            .as("stream %d", i)
            .isEqualTo(oracle.apply(i));
      }
    }
  }

  private String textOf(int prompt, CountDownLatch flowing) throws Exception {
    try (var client = ask(prompt)) {
      var text = new StringBuilder();
      boolean counted = false;
      for (var event = client.next(); event != null; event = client.next()) {
        text.append(event.text());
        if (!counted && !event.text().isEmpty()) {
          counted = true;
          flowing.countDown();
        }
      }
      return text.toString();
    }
  }

  private ChatClient ask(int prompt) throws Exception {
    return ChatClient.post(
        cluster.frontend().port(),
        ChatClient.body(Cluster.MODEL, "Count from " + prompt, TOKENS, true));
  }
}
