package io.dynamo.cli;

import io.dynamo.json.JsonObject;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Talks with a model: each line is a message, each answer is printed as it comes. */
@Command(
    name = "chat",
    description = {
      "Talks with a model. Each line is a message; the answer is printed as it comes.",
      "An empty line is left out; end of input ends the talk.",
      "In a terminal, Ctrl-C during an answer ends the answer."
    })
final class ChatCommand extends Subcommand {
  private static final String DIM = "\u001b[2m";
  private static final String PLAIN = "\u001b[0m";

  @Mixin private ServerOptions server;

  @Mixin private ModelOption model;

  @Option(names = "--system", paramLabel = "TEXT", description = "A message of the system.")
  private @Nullable String system;

  @Option(
      names = {"-m", "--message"},
      paramLabel = "TEXT",
      description = "Sends this message alone, and ends after its answer.")
  private @Nullable String message;

  @Option(names = "--max-tokens", paramLabel = "NUMBER", description = "Bounds each answer.")
  private @Nullable Integer maxTokens;

  @SuppressWarnings("NullAway.Init")
  ChatCommand() {}

  @Override
  public Integer call() {
    var client = server.client();
    var name = model.of(client);
    var out = out();
    var messages = new ArrayList<Map<String, @Nullable Object>>();
    if (system != null) {
      messages.add(JsonObject.ordered("role", "system", "content", system));
    }
    if (message != null) {
      answer(client, name, messages, message, out);
      return ExitCode.DONE;
    }
    boolean terminal = Output.isTerminal();
    if (terminal) {
      out.println(name + " at " + client.server() + "; Ctrl-C stops an answer, Ctrl-D ends");
    }
    var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    while (true) {
      if (terminal) {
        out.print("> ");
        out.flush();
      }
      var line = nextLine(lines);
      if (line == null) {
        return ExitCode.DONE;
      }
      if (!line.isBlank()) {
        answer(client, name, messages, line, out);
      }
    }
  }

  private static @Nullable String nextLine(BufferedReader lines) {
    try {
      return lines.readLine();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Sends one message with all before it, and adds it and its answer to them. In a terminal, Ctrl-C
   * ends the answer; what has come of it is kept.
   */
  private void answer(
      ServerClient client,
      String name,
      List<Map<String, @Nullable Object>> messages,
      String text,
      PrintWriter out) {
    messages.add(JsonObject.ordered("role", "user", "content", text));
    var body = JsonObject.ordered("model", name, "stream", true, "messages", messages);
    if (maxTokens != null) {
      body.put("max_tokens", maxTokens);
    }
    var answer = new StringBuilder();
    if (Output.isTerminal() && message == null) {
      try (var key = InterruptKey.open()) {
        try {
          print(client, body, answer, out);
        } catch (UnreachableException cut) {
          if (!key.isPressed()) {
            throw cut;
          }
          out.println();
          out.println("(stopped)");
        }
      }
    } else {
      print(client, body, answer, out);
    }
    if (answer.isEmpty()) {
      messages.removeLast();
    } else {
      messages.add(JsonObject.ordered("role", "assistant", "content", answer.toString()));
    }
  }

  /** Prints an answer as it comes, and adds its text without thoughts to {@code answer}. */
  private static void print(
      ServerClient client,
      Map<String, @Nullable Object> body,
      StringBuilder answer,
      PrintWriter out) {
    boolean colours = Output.isTerminal();
    boolean thinking = false;
    try (var lines = client.stream("/v1/chat/completions", body)) {
      for (var line : (Iterable<String>) lines::iterator) {
        var part = AnswerPart.of(line);
        if (part == null) {
          continue;
        }
        if (part.error() != null) {
          out.println();
          throw new RefusedException("the answer ended in an error: " + part.error());
        }
        boolean thought = !part.reasoning().isEmpty();
        if (colours && thinking != thought && !(part.content() + part.reasoning()).isEmpty()) {
          out.print(thought ? DIM : PLAIN + "\n");
          thinking = thought;
        }
        out.print(part.reasoning());
        out.print(part.content());
        out.flush();
        answer.append(part.content());
      }
      out.println();
    } catch (UncheckedIOException e) {
      throw new UnreachableException("the answer broke off: " + e.getMessage(), e);
    } finally {
      if (thinking) {
        out.print(PLAIN);
      }
      out.flush();
    }
  }
}
