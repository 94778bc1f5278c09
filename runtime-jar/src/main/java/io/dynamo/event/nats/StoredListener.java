package io.dynamo.event.nats;

import io.dynamo.event.EventHistory;
import io.dynamo.event.EventListener;
import io.dynamo.event.LinkListener;
import io.dynamo.event.StoredPosition;
import io.dynamo.wire.event.EventEnvelope;
import java.util.function.Consumer;

/** The receiver of a stored subscription, one call at a time. */
interface StoredListener {
  void event(StoredPosition position, EventEnvelope event);

  void found(long publisherId);

  void lost(long publisherId);

  /** Events are gone from the store before they were read; {@link #caughtUp} follows. */
  void gap();

  void caughtUp();

  void cut();

  /** Calls a listener of the event plane, which may also be interested in publishers and links. */
  static StoredListener of(Consumer<EventEnvelope> listener) {
    return new StoredListener() {
      @Override
      public void event(StoredPosition position, EventEnvelope event) {
        listener.accept(event);
      }

      @Override
      public void found(long publisherId) {
        if (listener instanceof EventListener all) {
          all.publisherFound(publisherId);
        }
      }

      @Override
      public void lost(long publisherId) {
        if (listener instanceof EventListener all) {
          all.publisherLost(publisherId);
        }
      }

      @Override
      public void gap() {} // the call that follows says that some may have been missed

      @Override
      public void caughtUp() {
        if (listener instanceof LinkListener all) {
          all.linked(_ -> true);
        }
      }

      @Override
      public void cut() {
        if (listener instanceof LinkListener all) {
          all.cut(_ -> true);
        }
      }
    };
  }

  static StoredListener of(EventHistory.Listener listener) {
    return new StoredListener() {
      @Override
      public void event(StoredPosition position, EventEnvelope event) {
        listener.event(position, event);
      }

      @Override
      public void found(long publisherId) {}

      @Override
      public void lost(long publisherId) {}

      @Override
      public void gap() {
        listener.gap();
      }

      @Override
      public void caughtUp() {
        listener.caughtUp();
      }

      @Override
      public void cut() {
        listener.cut();
      }
    };
  }
}
