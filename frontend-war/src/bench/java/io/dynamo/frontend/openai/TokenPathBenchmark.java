package io.dynamo.frontend.openai;

import io.dynamo.model.vocabulary.TokenTable;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.NullUnmarked;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * One streamed token from the bytes of its item to the bytes of its event, without sockets and
 * without a change of threads: decoder, item stream, leg, inbox, detokeniser, encoder, writer, with
 * a share of the request of 1/900. Run {@code mvn verify -Pbench -pl frontend-war -am
 * -Dbench=TokenPathBenchmark -Dbench.args="-prof gc"}.
 */
@NullUnmarked // JMH fills the fields before it measures
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class TokenPathBenchmark {
  private static final int TOKENS = 900;
  private static final int VOCABULARY = 512;

  @Param({"chat", "completions", "responses", "messages"})
  String api;

  private FrontendFixture frontend;
  private ScheduledExecutorService timer;
  private FedWorkers workers;
  private byte[] body;

  /** Words of four letters and a space. */
  private record Words(byte[][] all) implements TokenTable {
    static Words make() {
      var all = new byte[FedWorkers.FIRST + VOCABULARY][];
      for (int i = 0; i < all.length; i++) {
        all[i] = " %04x".formatted(i).getBytes(StandardCharsets.UTF_8);
      }
      return new Words(all);
    }

    @Override
    public int size() {
      return all.length;
    }

    @Override
    public byte[] bytes(int id) {
      return all[id];
    }

    @Override
    public boolean isSpecial(int id) {
      return false;
    }
  }

  @Setup
  public void start() {
    timer = Executors.newSingleThreadScheduledExecutor();
    frontend = new FrontendFixture();
    workers = new FedWorkers(TOKENS, VOCABULARY);
    frontend.through = workers.dispatcher(frontend.metrics, timer);
    frontend.table = Words.make();
    frontend.api =
        switch (api) {
          case "chat" -> TextService.CHAT;
          case "completions" -> TextService.COMPLETIONS;
          case "responses" -> TextService.RESPONSES;
          case "messages" -> TextService.MESSAGES;
          default -> throw new IllegalArgumentException("no api " + api);
        };
    var asked =
        switch (api) {
          case "completions" -> "\"prompt\":\"p\"";
          case "responses" -> "\"input\":\"p\",\"store\":false";
          default -> "\"max_tokens\":1000,\"messages\":[{\"role\":\"user\",\"content\":\"p\"}]";
        };
    body =
        "{\"model\":\"script\",\"stream\":true,%s}"
            .formatted(asked)
            .getBytes(StandardCharsets.UTF_8);
    var answer = new FrontendFixture.Recorded();
    ask(answer);
    if (answer.status != 200 || workers.clientBytes() < TOKENS * 100L) {
      throw new IllegalStateException(answer.status + ": " + answer.text());
    }
  }

  private void ask(FrontendFixture.Recorded answer) {
    answer.wire = workers;
    frontend.post(body, Map.of(), answer);
  }

  @Benchmark
  @OperationsPerInvocation(TOKENS)
  public long token() {
    ask(new FrontendFixture.Recorded());
    return workers.clientBytes();
  }

  @TearDown
  public void stop() {
    timer.shutdownNow();
    frontend.close();
  }
}
