package io.dynamo.frontend.postprocess.tools;

import io.dynamo.frontend.postprocess.message.Markers;
import io.dynamo.frontend.postprocess.message.MessageParser;
import io.dynamo.frontend.postprocess.message.MessageSink;
import io.dynamo.frontend.postprocess.message.ReasoningParser;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Parses answers whose parts name their kind in a header: thoughts, text or calls. A part that is
 * no call is not searched for calls. The first header has no mark before it: the prompt ends with
 * that. Text outside of parts is content. For one thread.
 */
public final class RoutedMessages extends RegionParser implements ReasoningParser {
  private final RoutedFormat format;
  private final boolean reasoning;
  private final boolean tools;
  private final ToolSchemas schemas;
  private final Markers markers;
  private final int bodies; // how many of the markers end a header; the start is behind them
  private boolean inHeader = true; // the text may be one
  private RoutedFormat.Kind kind = RoutedFormat.Kind.TEXT; // of the part under way
  private @Nullable MessageParser call; // reads the part under way

  private RoutedMessages(
      RoutedFormat format, boolean reasoning, boolean tools, ToolSchemas schemas) {
    this.format = format;
    this.reasoning = reasoning;
    this.tools = tools;
    this.schemas = schemas;
    this.bodies = format.bodies().size();
    this.markers = new Markers(markers(format));
  }

  /**
   * A parser of Inkling's typed blocks.
   *
   * @param reasoning whether thoughts are separated; else they are content
   * @param tools whether calls are; else their text is content
   */
  public static RoutedMessages inkling(boolean reasoning, boolean tools) {
    return new RoutedMessages(RoutedFormat.INKLING, reasoning, tools, ToolSchemas.NONE);
  }

  /**
   * A parser of Muse Glimmer's messages with a recipient.
   *
   * @param reasoning whether thoughts are separated; else they are content
   * @param tools whether calls are; else their text is content
   */
  public static RoutedMessages muse(boolean reasoning, boolean tools, ToolSchemas schemas) {
    return new RoutedMessages(RoutedFormat.MUSE, reasoning, tools, schemas);
  }

  /** All markers of a format. */
  static List<String> markers(RoutedFormat format) {
    var all = new ArrayList<>(format.bodies());
    all.add(format.start());
    all.addAll(format.ends());
    return all;
  }

  @Override
  public boolean isThinking() {
    return reasoning && !inHeader && kind == RoutedFormat.Kind.THOUGHT;
  }

  @Override
  @SuppressWarnings("JdkObsolete") // whether more text could still make it a header
  boolean step(MessageSink sink, boolean last) {
    boolean found = markers.find(in, 0, last);
    int end = markers.start();
    if (inHeader) {
      var header = in.substring(0, end);
      var match = format.header().matcher(header);
      boolean whole = match.matches();
      if (!found && !last && (whole || match.hitEnd())) {
        return false;
      }
      inHeader = false;
      if (found && whole && markers.which() < bodies) {
        begin(format.kind().of(header, markers.which()));
        drop(markers.end());
        return true;
      }
      kind = RoutedFormat.Kind.TEXT; // no header after all
    }
    passOn(end, sink);
    if (!found) {
      return false;
    }
    int which = markers.which();
    int length = markers.end() - markers.start();
    finishCall(sink);
    if (which < bodies) {
      begin(format.kind().of("", which));
    } else {
      kind = RoutedFormat.Kind.TEXT;
      inHeader = which == bodies;
    }
    drop(length);
    return true;
  }

  private void begin(RoutedFormat.Kind of) {
    kind = of;
    call = of == RoutedFormat.Kind.CALL && tools ? format.call().apply(schemas) : null;
  }

  private void passOn(int end, MessageSink sink) {
    if (end == 0) {
      return;
    }
    var reading = call;
    if (reading != null) {
      reading.accept(in.substring(0, end), new ToolNameSink(sink));
      drop(end);
    } else if (kind == RoutedFormat.Kind.THOUGHT && reasoning) {
      sink.reasoning(in.substring(0, end));
      drop(end);
    } else {
      content(end, sink);
    }
  }

  private void finishCall(MessageSink sink) {
    if (call != null) {
      call.finish(new ToolNameSink(sink));
      call = null;
    }
  }

  @Override
  public boolean isInCall() {
    return call != null && call.isInCall();
  }

  @Override
  void end(MessageSink sink) {
    finishCall(sink);
  }

  /** Passes all parts on, and gives calls the tool names of the client. */
  private final class ToolNameSink implements MessageSink {
    private final MessageSink sink;

    ToolNameSink(MessageSink sink) {
      this.sink = sink;
    }

    @Override
    public void content(String text) {
      sink.content(text);
    }

    @Override
    public void reasoning(String text) {
      sink.reasoning(text);
    }

    @Override
    public void callStarted(String name, @Nullable String id) {
      sink.callStarted(schemas.toolName(name), id);
    }

    @Override
    public void callArguments(String json) {
      sink.callArguments(json);
    }

    @Override
    public void callEnded() {
      sink.callEnded();
    }
  }
}
