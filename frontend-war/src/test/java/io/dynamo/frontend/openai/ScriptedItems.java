package io.dynamo.frontend.openai;

import io.dynamo.error.DynamoException;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.frontend.dispatch.AnswerItems;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An answer whose items are there from the beginning. For one thread. */
final class ScriptedItems<A> implements AnswerItems<A> {
  private final Deque<A> items;
  private final @Nullable DynamoException failure;

  /**
   * @param failure after the items; null completes, unless there are none
   */
  ScriptedItems(List<A> items, @Nullable DynamoException failure) {
    this.items = new ArrayDeque<>(items);
    this.failure =
        items.isEmpty() && failure == null
            ? new EngineFailedException(ErrorCode.BACKEND_UNKNOWN, "no answer", null)
            : failure;
  }

  @Override
  public void awaitFirst() {
    if (items.isEmpty() && failure != null) {
      throw failure;
    }
  }

  @Override
  public void awaitFirst(long nanos) {
    awaitFirst();
  }

  @Override
  public @Nullable A poll() {
    var item = items.poll();
    if (item == null && failure != null) {
      throw failure;
    }
    return item;
  }

  @Override
  public boolean ended() {
    return items.isEmpty() && failure == null;
  }

  @Override
  public boolean await(long nanos) {
    return true;
  }

  @Override
  public void leave() {
    items.clear();
  }

  @Override
  public void cancel() {
    items.clear();
  }

  @Override
  public void close() {
    items.clear();
  }
}
