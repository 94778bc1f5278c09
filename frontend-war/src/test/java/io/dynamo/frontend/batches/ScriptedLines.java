package io.dynamo.frontend.batches;

import io.dynamo.frontend.ApiException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/** Lines that are names alone, answered as a test says. For any thread. */
final class ScriptedLines implements BatchLines {
  static final String ENDPOINT = "/v1/chat/completions";

  final List<String> asked = new CopyOnWriteArrayList<>();
  final AtomicInteger running = new AtomicInteger();
  final AtomicInteger mostRunning = new AtomicInteger();
  volatile boolean clientsWait;

  /** The answer to a line; never completed when the test does not. */
  volatile Function<String, CompletableFuture<Outcome>> answers = ScriptedLines::well;

  static CompletableFuture<Outcome> well(String line) {
    return status(200, line);
  }

  static CompletableFuture<Outcome> status(int status, String line) {
    return CompletableFuture.completedFuture(
        new Outcome(status, "r", line.getBytes(StandardCharsets.UTF_8), null));
  }

  @Override
  public boolean serves(String endpoint) {
    return endpoint.equals(ENDPOINT);
  }

  @Override
  public Line read(byte[] line, String endpoint) throws MalformedLineException {
    var text = new String(line, StandardCharsets.UTF_8);
    if (text.startsWith("bad")) {
      throw new MalformedLineException("invalid_json_line", "is bad");
    }
    return new Line(text, line);
  }

  @Override
  public Call start(Line line, String endpoint, String tenant) throws ApiException {
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
        outcome.complete(new Outcome(499, "r", new byte[0], null));
      }
    };
  }

  @Override
  public boolean areClientsWaiting() {
    return clientsWait;
  }

  @Override
  public byte[] result(Line line, Outcome outcome) {
    return (line.customId() + "=" + outcome.status() + "\n").getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public byte[] expired(Line line) {
    return (line.customId() + "=expired\n").getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public String errors(List<InputError> errors) {
    return errors.toString();
  }
}
