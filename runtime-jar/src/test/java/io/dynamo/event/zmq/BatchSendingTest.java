package io.dynamo.event.zmq;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.Test;

class BatchSendingTest implements BatchSending.Sender<String> {
  private final Queue<Runnable> loop = new ArrayDeque<>();
  private final Queue<Runnable> later = new ArrayDeque<>();
  private final List<String> calls = new ArrayList<>();
  private final BatchSending<String> sending =
      new BatchSending<>(loop::add, later::add, 2, 10, this);

  @Override
  public int send(String item) {
    calls.add(item);
    return item.length();
  }

  @Override
  public void drop(String item) {
    calls.add("dropped " + item);
  }

  @Override
  public void flush() {
    calls.add("flush");
  }

  @Override
  public void end() {
    calls.add("end");
  }

  @Test
  void theLoopServesOthersBetweenTwoBatches() {
    for (var item : List.of("a", "b", "c")) {
      sending.add(item);
    }
    assertThat(loop).hasSize(1);

    loop.remove().run();
    assertThat(calls).containsExactly("a", "b", "flush");
    later.remove().run();

    assertThat(calls).containsExactly("a", "b", "flush", "c", "flush");
    assertThat(loop).isEmpty();
    assertThat(later).isEmpty();
  }

  @Test
  void aBatchIsBoundedByItsBytesToo() {
    sending.add("0123456789");
    sending.add("b");
    loop.remove().run();
    assertThat(calls).containsExactly("0123456789", "flush");
  }

  @Test
  void theEndComesOnceAndBehindWhatWasAdded() {
    for (var item : List.of("a", "b", "c")) {
      sending.add(item);
    }
    sending.close();
    loop.remove().run();
    loop.remove().run(); // of the close, between two batches
    later.remove().run();
    assertThat(calls).containsExactly("a", "b", "flush", "c", "flush", "end");

    sending.add("late");
    loop.remove().run();
    assertThat(calls).endsWith("end", "dropped late");
  }

  @Test
  void theEndComesOnceWhenTheCloseIsOvertaken() {
    sending.add("a");
    sending.close();
    loop.remove().run();
    loop.remove().run();
    assertThat(calls).containsExactly("a", "flush", "end");
  }

  @Test
  void nothingToSendIsTheEndAtOnce() {
    sending.close();
    loop.remove().run();
    assertThat(calls).containsExactly("end");
  }
}
