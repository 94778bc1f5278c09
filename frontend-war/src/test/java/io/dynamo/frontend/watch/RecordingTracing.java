package io.dynamo.frontend.watch;

import io.dynamo.trace.Span;
import io.dynamo.trace.TraceContext;
import io.dynamo.trace.Tracing;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Keeps every span. Ids count up. Safe for concurrent use. */
public final class RecordingTracing implements Tracing {
  /** A started span. */
  public static final class Recorded implements Span {
    public final String name;
    public final Kind kind;
    public final @Nullable TraceContext parent;
    public final @Nullable TraceContext after;
    private final TraceContext own;
    public final Map<String, Object> attributes = Collections.synchronizedMap(new TreeMap<>());
    public final List<String> events = Collections.synchronizedList(new ArrayList<>());
    public volatile @Nullable String failure;
    public volatile boolean ended;

    private Recorded(
        String name, Kind kind, @Nullable TraceContext parent, Start start, TraceContext own) {
      this.name = name;
      this.kind = kind;
      this.parent = parent;
      this.after = start.after();
      this.own = own;
    }

    @Override
    public TraceContext context() {
      return own;
    }

    @Override
    public Span put(String key, String value) {
      attributes.put(key, value);
      return this;
    }

    @Override
    public Span put(String key, long value) {
      attributes.put(key, value);
      return this;
    }

    @Override
    public void event(String what) {
      events.add(what);
    }

    @Override
    public void fail(String what) {
      failure = what;
    }

    @Override
    public void end() {
      ended = true;
    }
  }

  private final List<Recorded> spans = new ArrayList<>(); // guarded by this

  @Override
  public boolean isOn() {
    return true;
  }

  @Override
  public synchronized Span start(
      String name, Kind kind, @Nullable TraceContext parent, Start start) {
    var trace = parent == null ? "f".repeat(32) : parent.traceId();
    var state = parent == null ? null : parent.state();
    var own = new TraceContext(trace, "%016x".formatted(spans.size() + 1), true, state);
    var span = new Recorded(name, kind, parent, start, own);
    spans.add(span);
    return span;
  }

  /** The spans of a name, in the order of their beginnings. */
  public synchronized List<Recorded> named(String name) {
    return spans.stream().filter(span -> span.name.equals(name)).toList();
  }

  public synchronized List<Recorded> all() {
    return List.copyOf(spans);
  }

  @Override
  public void close() {}
}
