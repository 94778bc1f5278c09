package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Many streams at once, each on a connection and a thread of its own. Owned by one test thread. */
final class Crowd implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final Pattern USAGE = Pattern.compile("\"completion_tokens\":(\\d+)");

  /**
   * How one stream ended.
   *
   * @param text all it said
   * @param error the data of its error frame
   * @param tokens it has according to its usage; null when none was asked for
   */
  record Outcome(int number, String text, @Nullable String error, @Nullable Integer tokens) {}

  private final ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
  private final List<Future<Outcome>> outcomes = new ArrayList<>();
  private final CountDownLatch flowing;

  private Crowd(int streams) {
    this.flowing = new CountDownLatch(streams);
  }

  /** Asks for {@code tokens} tokens to each of the {@link OracleText#prompt prompts} from first. */
  static Crowd ask(ServerProcess frontend, int first, int streams, int tokens) {
    return ask(frontend.port(), first, streams, tokens);
  }

  /** The same, asked of any frontend on this machine. */
  static Crowd ask(int port, int first, int streams, int tokens) {
    return ask(
        port,
        first,
        IntStream.range(first, first + streams)
            .mapToObj(
                number -> ChatClient.body(Cluster.MODEL, OracleText.prompt(number), tokens, true))
            .toList());
  }

  /** Asks each of {@code bodies}, as of {@link ChatClient#body}; their numbers count from first. */
  static Crowd ask(int port, int first, List<String> bodies) {
    var crowd = new Crowd(bodies.size());
    for (int i = 0; i < bodies.size(); i++) {
      int number = first + i;
      var body = bodies.get(i);
      crowd.outcomes.add(crowd.executor.submit(() -> crowd.read(port, number, body)));
    }
    return crowd;
  }

  private Outcome read(int port, int number, String body) throws IOException {
    try (var client = ChatClient.post(port, body)) {
      var text = new StringBuilder();
      String error = null;
      Integer tokens = null;
      boolean done = false;
      for (var event = client.next(); event != null; event = client.next()) {
        assertThat(done).as("nothing follows the end of stream %d", number).isFalse();
        done = event.isDone();
        var usage = USAGE.matcher(String.valueOf(event.data()));
        tokens = usage.find() ? Integer.valueOf(usage.group(1)) : tokens;
        if (event.data() != null && event.data().startsWith("{\"error\"")) {
          error = event.data();
        } else if (!event.text().isEmpty()) {
          assertThat(error).as("no text follows the error of stream %d", number).isNull();
          if (text.isEmpty()) {
            flowing.countDown();
          }
          text.append(event.text());
        }
      }
      assertThat(done).as("stream %d has its end", number).isTrue();
      return new Outcome(number, text.toString(), error, tokens);
    }
  }

  /** Waits until every stream has said something. */
  void awaitFlowing() throws InterruptedException {
    assertThat(flowing.await(LIMIT.toSeconds(), TimeUnit.SECONDS))
        .as("all streams flow; %d do not", flowing.getCount())
        .isTrue();
  }

  /** Waits for all to end. */
  List<Outcome> outcomes() throws Exception {
    var ended = new ArrayList<Outcome>();
    for (var outcome : outcomes) {
      ended.add(outcome.get(LIMIT.toSeconds(), TimeUnit.SECONDS));
    }
    return ended;
  }

  /** Waits for all to end, none with an error. */
  List<Outcome> unbroken() throws Exception {
    var ended = outcomes();
    assertThat(ended.stream().filter(outcome -> outcome.error() != null))
        .as("streams that broke")
        .isEmpty();
    return ended;
  }

  /** Waits for all to end, each with what the oracle says and no error. */
  void endsAs(OracleText oracle, int tokens) throws Exception {
    for (var outcome : unbroken()) {
      assertThat(outcome.text())
          .as("stream %d", outcome.number())
          .isEqualTo(oracle.answer(outcome.number(), tokens));
    }
  }

  @Override
  public void close() {
    executor.shutdownNow();
    executor.close();
  }
}
