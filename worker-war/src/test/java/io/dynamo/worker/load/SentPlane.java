package io.dynamo.worker.load;

import io.dynamo.event.EventEnvelope;
import io.dynamo.event.EventPlane;
import io.dynamo.event.EventSubject;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Keeps what is published; may be told to fail. For one thread. */
final class SentPlane implements EventPlane {
  final List<EventSubject> subjects = new ArrayList<>();
  final List<byte[]> sent = new ArrayList<>();
  int closed;
  boolean broken;

  @Override
  public Publisher publisher(EventSubject subject) {
    subjects.add(subject);
    return new Publisher() {
      @Override
      public long id() {
        return 1;
      }

      @Override
      public void publish(byte[] payload) {
        if (broken) {
          throw new IllegalStateException("broken");
        }
        sent.add(payload);
      }

      @Override
      public void close() {
        closed++;
      }
    };
  }

  @Override
  public Subscription subscribe(EventSubject subject, Consumer<EventEnvelope> listener) {
    throw new UnsupportedOperationException("publishes only");
  }

  @Override
  public void close() {}
}
