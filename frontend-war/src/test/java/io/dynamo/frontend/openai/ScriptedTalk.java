package io.dynamo.frontend.openai;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DynamoException;
import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.frontend.dispatch.AnswerItems;
import io.dynamo.frontend.dispatch.TalkInput;
import io.dynamo.frontend.dispatch.Talks;
import io.dynamo.inference.BodyTask;
import io.dynamo.inference.TaskOutput;
import io.dynamo.request.RequestContext;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A worker of realtime sessions that says what a test has it say. One session at a time. */
final class ScriptedTalk implements Talks, AnswerItems<TaskOutput> {
  private record Step(@Nullable TaskOutput item, @Nullable DynamoException failure) {}

  /** The events of the client as they reached the worker; the end is the text {@code end}. */
  final BlockingQueue<Object> heard = new LinkedBlockingQueue<>();

  final CountDownLatch closed = new CountDownLatch(1);
  @Nullable DynamoException refusal; // instead of a worker
  boolean reads = true;
  boolean endsWhenStopped = true;
  private final BlockingQueue<Step> steps = new LinkedBlockingQueue<>();
  private @Nullable Step next; // the session's thread
  private boolean over; // likewise
  volatile @Nullable RequestContext context;

  void say(Map<String, Object> event) {
    steps.add(new Step(new TaskOutput(event), null));
  }

  void end() {
    steps.add(new Step(null, null));
  }

  void fail(DynamoException cause) {
    steps.add(new Step(null, cause));
  }

  @Override
  public AnswerItems<TaskOutput> open(ServedModel model, TalkInput input, RequestContext given) {
    if (refusal != null) {
      throw refusal;
    }
    context = given;
    given
        .cancellation()
        .onCancel(
            level -> {
              if (level == Cancellation.Level.KILL) {
                fail(new CancelledException("killed"));
              } else if (endsWhenStopped) {
                end();
              }
            });
    input.subscribe(
        new Flow.Subscriber<>() {
          @Override
          public void onSubscribe(Flow.Subscription subscription) {
            if (reads) {
              subscription.request(Long.MAX_VALUE);
            }
          }

          @Override
          public void onNext(BodyTask item) {
            heard.add(item.body());
          }

          @Override
          public void onError(Throwable cause) {
            heard.add(cause);
          }

          @Override
          public void onComplete() {
            heard.add("end");
          }
        });
    return this;
  }

  @Override
  public void abort(DynamoException cause) {
    fail(cause);
  }

  @Override
  public void awaitFirst() throws InterruptedException {
    await(Long.MAX_VALUE);
  }

  @Override
  public void awaitFirst(long nanos) throws InterruptedException {
    await(nanos);
  }

  @Override
  public @Nullable TaskOutput poll() {
    var step = next == null ? steps.poll() : next;
    next = null;
    if (step == null) {
      return null;
    }
    if (step.failure() != null) {
      throw step.failure();
    }
    over = step.item() == null;
    return step.item();
  }

  @Override
  public boolean ended() {
    return over;
  }

  @Override
  public boolean await(long nanos) throws InterruptedException {
    if (next == null && !over) {
      next = steps.poll(nanos, TimeUnit.NANOSECONDS);
    }
    return next != null || over;
  }

  @Override
  public void leave() {
    over = true;
  }

  @Override
  public void cancel() {
    over = true;
  }

  @Override
  public void close() {
    closed.countDown();
  }
}
