package io.dynamo.frontend.batches;

import io.dynamo.frontend.ApiException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Lines that are names alone, answered as a test says. For any thread. */
final class ScriptedLines implements BatchLines {
  static final String ENDPOINT = "/v1/chat/completions";

  final List<String> asked = new CopyOnWriteArrayList<>();
  final AtomicInteger running = new AtomicInteger();
  final AtomicInteger mostRunning = new AtomicInteger();
  final AtomicInteger openMemories = new AtomicInteger();
  final AtomicInteger mostMemories = new AtomicInteger();
  final Map<String, Integer> reads = new ConcurrentHashMap<>();
  volatile boolean clientsWait;
  volatile String readableOnce = ""; // a line that is malformed when it is read again
  volatile String unwritable = ""; // a line whose answer cannot be written

  /** The answer to a line; never completed when the test does not. */
  volatile Function<String, CompletableFuture<Outcome>> answers = ScriptedLines::well;

  static CompletableFuture<Outcome> well(String line) {
    return status(200, line);
  }

  static CompletableFuture<Outcome> status(int status, String line) {
    return CompletableFuture.completedFuture(outcome(status, line, false, null));
  }

  static Outcome outcome(
      int status, String text, boolean isOverload, @Nullable Integer retryAfterSeconds) {
    var body = text.getBytes(StandardCharsets.UTF_8);
    return new Outcome(status, "r", body, isOverload, retryAfterSeconds);
  }

  @Override
  public boolean serves(String endpoint) {
    return endpoint.equals(ENDPOINT);
  }

  @Override
  public Memory memory() {
    mostMemories.accumulateAndGet(openMemories.incrementAndGet(), Math::max);
    var closed = new AtomicBoolean();
    return new Memory() {
      @Override
      public void hold(long bytes) {
        if (closed.get()) {
          throw new AssertionError("charged after its end");
        }
      }

      @Override
      public void close() {
        if (closed.compareAndSet(false, true)) {
          openMemories.decrementAndGet();
        }
      }
    };
  }

  @Override
  public Line read(byte[] line, String endpoint) throws MalformedLineException {
    var text = new String(line, StandardCharsets.UTF_8);
    int times = reads.merge(text, 1, Integer::sum);
    if (text.startsWith("bad") || (text.equals(readableOnce) && times > 1)) {
      throw new MalformedLineException("invalid_json_line", "is bad");
    }
    return new Line(text, line);
  }

  @Override
  public Call start(Line line, String endpoint, String tenant, Memory memory) throws ApiException {
    asked.add(line.customId());
    mostRunning.accumulateAndGet(running.incrementAndGet(), Math::max);
    var outcome = answers.apply(line.customId());
    var _ = outcome.whenComplete((_, _) -> running.decrementAndGet());
    return new Call() {
      @Override
      public CompletableFuture<Outcome> outcome() {
        return outcome;
      }

      @Override
      public void cancel() {
        outcome.complete(ScriptedLines.outcome(499, "", false, null));
      }
    };
  }

  @Override
  public boolean areClientsWaiting() {
    return clientsWait;
  }

  @Override
  public byte[] result(Line line, Outcome outcome) {
    if (line.customId().equals(unwritable)) {
      throw new IllegalStateException("its answer has too much of everything");
    }
    return (line.customId() + "=" + outcome.status() + "\n").getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public byte[] error(@Nullable String customId, String code, String message) {
    return (customId + "=" + code + "\n").getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public String errors(List<InputError> errors) {
    return errors.toString();
  }
}
