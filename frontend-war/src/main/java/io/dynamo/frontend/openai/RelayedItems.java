package io.dynamo.frontend.openai;

import io.dynamo.frontend.dispatch.AnswerItems;
import io.dynamo.frontend.openai.wire.RelayedAnswer;
import io.dynamo.frontend.sse.ItemSource;
import io.dynamo.inference.TaskOutput;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The chunks of a worker, each charged and checked, and their end, which must be one. */
final class RelayedItems implements ItemSource<Map<String, @Nullable Object>> {
  private final AnswerItems<TaskOutput> items;
  private final RelayedAnswer answer;
  private final Consumer<TaskOutput> charge;
  private @Nullable Map<String, @Nullable Object> first;
  private boolean complete;

  /**
   * @param charge takes the memory of an item before it is looked at
   */
  RelayedItems(AnswerItems<TaskOutput> items, RelayedAnswer answer, Consumer<TaskOutput> charge) {
    this.items = items;
    this.answer = answer;
    this.charge = charge;
  }

  /**
   * Waits for the first chunk, which {@link #poll} returns next.
   *
   * @return whether it is there, false when {@code nanos} passed without
   * @throws io.dynamo.error.DynamoException when there will be none, or it is no chunk
   */
  boolean awaitFirst(long nanos) throws InterruptedException {
    items.awaitFirst(nanos);
    first = poll();
    return first != null;
  }

  @Override
  public @Nullable Map<String, @Nullable Object> poll() {
    var known = first;
    if (known != null) {
      first = null;
      return known;
    }
    var item = items.poll();
    if (item != null) {
      charge.accept(item);
      return answer.chunk(item);
    }
    if (!complete && items.ended()) {
      answer.requireEnd();
      complete = true;
    }
    return null;
  }

  @Override
  public boolean ended() {
    return complete; // an end that poll has not seen is not checked yet
  }

  @Override
  public boolean await(long nanos) throws InterruptedException {
    return first != null || items.await(nanos);
  }

  @Override
  public void leave() {
    first = null;
    items.leave();
  }

  @Override
  public void cancel() {
    items.cancel();
  }
}
