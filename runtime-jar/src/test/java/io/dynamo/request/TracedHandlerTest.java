package io.dynamo.request;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.concurrent.ItemStream;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.WorkerLostException;
import io.dynamo.trace.Span;
import io.dynamo.trace.TraceContext;
import io.dynamo.trace.Tracing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class TracedHandlerTest implements Tracing, Span {
  private static final String PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  private static final TraceContext OWN =
      new TraceContext("0af7651916cd43dd8448eb211c80319c", "0000000000000001", true, null);
  private static final EndpointId ENDPOINT = new EndpointId("ns", "backend", "generate");

  private final List<String> calls = new ArrayList<>(); // of the span, in order
  private final ItemStream<String> answer = new ItemStream<>(8, () -> {}, () -> calls.add("gone"));
  private final List<String> heard = new ArrayList<>();
  private @Nullable RequestContext handled;
  private @Nullable RuntimeException refusal;
  private Flow.@Nullable Subscription subscription;

  private final TracedHandler<String, String> traced =
      new TracedHandler<>(
          (_, context) -> {
            handled = context;
            if (refusal != null) {
              throw refusal;
            }
            return answer;
          },
          this,
          ENDPOINT,
          new InstanceId(10));

  private void ask(Map<String, String> headers) {
    var context =
        new RequestContext(
            "r",
            Map.of("a", "b"),
            headers,
            Deadline.after(Duration.ofMinutes(1)),
            new Cancellation());
    traced
        .handle("q", context)
        .subscribe(
            new Flow.Subscriber<>() {
              @Override
              public void onSubscribe(Flow.Subscription given) {
                subscription = given;
                given.request(8);
              }

              @Override
              public void onNext(String item) {
                heard.add(item);
              }

              @Override
              public void onError(Throwable failure) {
                heard.add("failed");
              }

              @Override
              public void onComplete() {
                heard.add("completed");
              }
            });
  }

  @Test
  void anAnswerIsASpanOfItsRequestersTrace() {
    ask(Map.of("traceparent", PARENT, "x-request-id", "x"));
    answer.offer("1");
    answer.offer("2");
    answer.complete();
    assertThat(calls)
        .containsExactly(
            "begins handle_payload SERVER under b7ad6b7169203331",
            "dynamo.request_id=r",
            "dynamo.endpoint=ns/backend/generate",
            "dynamo.worker_id=a",
            "first_item",
            "ends");
    assertThat(heard).containsExactly("1", "2", "completed");
    assertThat(Objects.requireNonNull(handled).headers())
        .containsEntry("traceparent", OWN.traceparent())
        .containsEntry("x-request-id", "x");
    assertThat(handled.metadata()).containsEntry("a", "b");
  }

  @Test
  void aStreamThatBreaksEndsItByItsKind() {
    ask(Map.of("traceparent", PARENT));
    answer.fail(new WorkerLostException(ErrorCode.DISCONNECTED, "text of the engine"));
    assertThat(calls).endsWith("fails disconnected", "ends").doesNotContain("first_item");
    assertThat(heard).containsExactly("failed");
  }

  @Test
  void aRequesterThatLeavesEndsItOnce() {
    ask(Map.of("traceparent", PARENT));
    Objects.requireNonNull(subscription).cancel();
    subscription.cancel();
    answer.complete();
    assertThat(calls).endsWith("gone", "fails cancelled", "ends");
    assertThat(calls).containsOnlyOnce("ends");
  }

  @Test
  void aRefusalEndsItToo() {
    refusal = new InvalidRequestException("no");
    assertThatThrownBy(() -> ask(Map.of("traceparent", PARENT))).isSameAs(refusal);
    assertThat(calls).endsWith("fails invalid_argument", "ends");
  }

  @Test
  void aRequestThatNobodyTracesIsNone() {
    ask(Map.of("traceparent", "nonsense"));
    answer.complete();
    assertThat(calls).isEmpty();
    assertThat(heard).containsExactly("completed");
  }

  // the one span

  @Override
  public boolean isOn() {
    return true;
  }

  @Override
  public Span start(String name, Kind kind, @Nullable TraceContext parent, Start start) {
    calls.add("begins " + name + " " + kind + " under " + Objects.requireNonNull(parent).spanId());
    return this;
  }

  @Override
  public TraceContext context() {
    return OWN;
  }

  @Override
  public Span put(String key, String value) {
    calls.add(key + "=" + value);
    return this;
  }

  @Override
  public Span put(String key, long value) {
    return put(key, Long.toString(value));
  }

  @Override
  public void event(String what) {
    calls.add(what);
  }

  @Override
  public void fail(String what) {
    calls.add("fails " + what);
  }

  @Override
  public void end() {
    calls.add("ends");
  }

  @Override
  public void close() {}
}
