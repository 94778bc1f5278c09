package io.dynamo.frontend.postprocess.message;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A whole message, joined from its pieces. */
public record JoinedMessage(String content, String reasoning, List<Call> calls) {
  /** A call with all its arguments. */
  public record Call(String name, String arguments) {
    @Override
    public String toString() {
      return name + arguments;
    }
  }

  /** A message of content only. */
  public static JoinedMessage content(String content) {
    return new JoinedMessage(content, "", List.of());
  }

  /** The message with a further call. */
  public JoinedMessage call(String name, String arguments) {
    var more = new ArrayList<>(calls);
    more.add(new Call(name, arguments));
    return new JoinedMessage(content, reasoning, more);
  }

  /** The message with thoughts. */
  public JoinedMessage thought(String text) {
    return new JoinedMessage(content, text, calls);
  }

  /**
   * Parses {@code text} with new parsers, cut at every place, and checks that the result is the
   * same.
   */
  public static JoinedMessage atEveryCut(Supplier<? extends MessageParser> parsers, String text) {
    var whole = of(parsers.get(), List.of(text));
    for (int cut = 0; cut <= text.length(); cut++) {
      var parts = List.of(text.substring(0, cut), text.substring(cut));
      assertThat(of(parsers.get(), parts)).as("cut at %d of %s", cut, text).isEqualTo(whole);
    }
    for (int width : List.of(1, 3)) {
      var parts = new ArrayList<String>();
      for (int at = 0; at < text.length(); at += width) {
        parts.add(text.substring(at, Math.min(text.length(), at + width)));
      }
      assertThat(of(parsers.get(), parts)).as("%d at a time: %s", width, text).isEqualTo(whole);
    }
    return whole;
  }

  /** Parses a text that arrives in parts. */
  public static JoinedMessage of(MessageParser parser, List<String> parts) {
    var sink = new FoldingSink();
    parts.forEach(part -> parser.accept(part, sink));
    parser.finish(sink);
    return sink.folded();
  }

  /** Joins pieces, and checks that the parser keeps the contract of {@link MessageSink}. */
  public static class FoldingSink implements MessageSink {
    private final StringBuilder content = new StringBuilder();
    private final StringBuilder reasoning = new StringBuilder();
    private final List<Call> calls = new ArrayList<>();
    private final StringBuilder arguments = new StringBuilder();
    private @Nullable String name;

    /** The message, which must be complete. */
    public JoinedMessage folded() {
      assertThat(name).as("a call that is open").isNull();
      return new JoinedMessage(content.toString(), reasoning.toString(), List.copyOf(calls));
    }

    /** The arguments of the call under way. */
    public String argumentsSoFar() {
      return arguments.toString();
    }

    @Override
    public void content(String text) {
      assertThat(text).isNotEmpty();
      assertThat(name).as("a call that is open").isNull();
      content.append(text);
    }

    @Override
    public void reasoning(String text) {
      assertThat(text).isNotEmpty();
      assertThat(name).as("a call that is open").isNull();
      reasoning.append(text);
    }

    @Override
    public void callStarted(String started, @Nullable String id) {
      assertThat(name).as("a call that is open").isNull();
      name = started;
      arguments.setLength(0);
    }

    @Override
    public void callArguments(String json) {
      assertThat(name).as("the call that is open").isNotNull();
      arguments.append(json);
    }

    @Override
    public void callEnded() {
      assertThat(name).as("the call that is open").isNotNull();
      calls.add(new Call(String.valueOf(name), arguments.toString()));
      name = null;
    }
  }
}
