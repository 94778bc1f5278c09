package io.dynamo.worker.engine.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.Flow;
import org.junit.jupiter.api.Test;

class LineExchangeTest {
  private static final int WINDOW = 16;

  private long requested;
  private boolean cancelled;
  private int news;
  private final LineExchange exchange = new LineExchange(() -> news++);

  LineExchangeTest() {
    exchange.onSubscribe(
        new Flow.Subscription() {
          @Override
          public void request(long count) {
            requested += count;
          }

          @Override
          public void cancel() {
            cancelled = true;
          }
        });
  }

  private void deliver(String text) {
    exchange.onNext(List.of(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8))));
  }

  private String line() throws IOException {
    var line = exchange.line();
    return line == null ? "none" : new String(line, StandardCharsets.UTF_8);
  }

  @Test
  void aReaderThatDoesNotReadHoldsOneWindow() throws IOException {
    for (int i = 0; i < WINDOW; i++) {
      deliver(i + "\n");
    }
    assertThat(requested).isEqualTo(WINDOW);
    for (int i = 0; i < WINDOW / 2; i++) {
      assertThat(line()).isEqualTo(Integer.toString(i));
    }
    assertThat(requested).as("the last delivery may have more lines").isEqualTo(WINDOW);
    assertThat(line()).isEqualTo(Integer.toString(WINDOW / 2));
    assertThat(requested).isEqualTo(WINDOW + WINDOW / 2);
  }

  @Test
  void clientAlwaysHasSomeLeftToDeliverToAReaderThatKeepsUp() throws IOException {
    for (int i = 0; i < 10 * WINDOW; i++) {
      deliver(i + "\n");
      assertThat(line()).isEqualTo(Integer.toString(i));
      assertThat(line()).isEqualTo("none");
      assertThat(requested - (i + 1)).isBetween(1L, (long) WINDOW);
    }
  }

  @Test
  void linesMayBeCutAnywhere() throws IOException {
    deliver("on");
    assertThat(line()).isEqualTo("none");
    deliver("e\n\ntwo\nth");
    assertThat(List.of(line(), line(), line(), line())).containsExactly("one", "", "two", "none");
    deliver("ree");
    exchange.onComplete();
    assertThat(exchange.isOver()).isFalse();
    assertThat(line()).isEqualTo("three");
    assertThat(exchange.isOver()).isTrue();
    assertThat(news).isEqualTo(4);
  }

  @Test
  void linesThatHaveArrivedComeBeforeTheFailure() throws IOException {
    deliver("one\n");
    deliver("two\nthr");
    exchange.onError(new IOException("cut"));
    assertThat(List.of(line(), line())).containsExactly("one", "two");
    assertThatThrownBy(this::line).isInstanceOf(IOException.class).hasMessage("cut");
  }

  @Test
  void closingCancelsWhatTheClientDelivers() {
    exchange.close();
    assertThat(cancelled).isTrue();
  }
}
