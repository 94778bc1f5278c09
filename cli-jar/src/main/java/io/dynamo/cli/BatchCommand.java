package io.dynamo.cli;

import io.dynamo.json.Json;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

/** Answers the texts of a file, several at once, into another file in their order. */
@Command(
    name = "batch",
    description = {
      "Answers the texts of a file: one JSON object with a \"text\" in each line.",
      "The answers are lines of JSON in the same order, written as they come.",
      "A server that is full is asked again; what fails for other reasons has an \"error\"."
    })
final class BatchCommand extends Subcommand {
  private static final int MOST_AT_ONCE = 1024;
  private static final double NANOS = 1e9;

  @Mixin private ServerOptions server;

  @Parameters(paramLabel = "FILE", description = "The texts.")
  private Path input;

  @Option(
      names = "--output",
      paramLabel = "FILE",
      description = "A new file for the answers; as a default output.jsonl beside the texts.")
  private @Nullable Path output;

  @Mixin private ModelOption model;

  @Option(
      names = "--max-tokens",
      paramLabel = "NUMBER",
      defaultValue = "8192",
      description = "Bounds each answer (default: ${DEFAULT-VALUE}).")
  private int maxTokens;

  @Option(
      names = "--at-once",
      paramLabel = "NUMBER",
      defaultValue = "16",
      description = "Texts that are asked at once (default: ${DEFAULT-VALUE}).")
  private int atOnce;

  private int answered;
  private int failed;
  private long tokensIn;
  private long tokensOut;

  @SuppressWarnings("NullAway.Init")
  BatchCommand() {}

  @Override
  public Integer call() {
    if (atOnce < 1 || atOnce > MOST_AT_ONCE) {
      throw wrong("--at-once %d is not from 1 to %d".formatted(atOnce, MOST_AT_ONCE));
    }
    if (maxTokens < 1) {
      throw wrong("--max-tokens %d is below 1".formatted(maxTokens));
    }
    var to = output == null ? input.resolveSibling("output.jsonl") : output;
    if (Files.exists(to)) {
      throw wrong(to + " exists; remove it, or name another file with --output");
    }
    long begin = System.nanoTime();
    try {
      check();
      var client = server.client();
      var ask = new BatchQuestion(client, model.of(client), maxTokens);
      try (var threads = Executors.newVirtualThreadPerTaskExecutor();
          var answers = Files.newBufferedWriter(to, StandardOpenOption.CREATE_NEW)) {
        answer(ask, threads, answers);
      }
    } catch (IOException e) {
      throw wrong("%s or %s cannot be used: %s".formatted(input, to, e));
    }
    error()
        .printf(
            "%d answered, %d failed in %.1f s; %d tokens in, %d out; see %s%n",
            answered, failed, (System.nanoTime() - begin) / NANOS, tokensIn, tokensOut, to);
    return failed == 0 ? ExitCode.DONE : ExitCode.REFUSED;
  }

  /** Reads the whole file once, so that nothing is asked when a line is wrong. */
  private void check() throws IOException {
    try (var lines = Files.newBufferedReader(input)) {
      int number = 0;
      for (var line = lines.readLine(); line != null; line = lines.readLine()) {
        number++;
        if (!line.isBlank() && text(line) == null) {
          throw wrong(
              "line %d of %s is no object such as {\"text\": \"Hello\"}".formatted(number, input));
        }
      }
    }
  }

  private void answer(BatchQuestion ask, ExecutorService threads, BufferedWriter answers)
      throws IOException {
    Deque<Future<BatchQuestion.Answer>> running = new ArrayDeque<>();
    try (var lines = Files.newBufferedReader(input)) {
      for (var line = lines.readLine(); line != null; line = lines.readLine()) {
        if (line.isBlank()) {
          continue;
        }
        var text = Objects.requireNonNullElse(text(line), "");
        if (running.size() == atOnce) {
          write(running.remove(), answers);
        }
        running.add(threads.submit(() -> ask.answer(text)));
      }
      while (!running.isEmpty()) {
        write(running.remove(), answers);
      }
    } finally {
      threads.shutdownNow(); // what still runs after a failure
    }
  }

  private void write(Future<BatchQuestion.Answer> running, BufferedWriter answers)
      throws IOException {
    BatchQuestion.Answer answer;
    try {
      answer = running.get();
    } catch (ExecutionException e) {
      throw e.getCause() instanceof RuntimeException failure
          ? failure
          : new IllegalStateException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new UncheckedIOException(new IOException("interrupted", e));
    }
    if (answer.isFailed()) {
      failed++;
    } else {
      answered++;
      tokensIn += answer.tokensIn();
      tokensOut += answer.tokensOut();
    }
    answers.write(new String(Json.write(answer.line()), StandardCharsets.UTF_8));
    answers.newLine();
    answers.flush();
  }

  /** The text of a line; null when it has none. */
  private static @Nullable String text(String line) {
    try {
      return Json.readObject(line.getBytes(StandardCharsets.UTF_8)).optionalText("text");
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  private ParameterException wrong(String message) {
    return new ParameterException(commandLine(), message);
  }
}
