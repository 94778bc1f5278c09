package io.dynamo.worker.engine.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.pipeline.http.SentRequest;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class LineExchangeTest {
  private static final int WINDOW = LineExchange.WINDOW;

  private long requested = WINDOW; // as every exchange has from the start
  private boolean cancelled;
  private boolean left;
  private int news;
  private final LineExchange exchange = new LineExchange(() -> news++);

  LineExchangeTest() {
    exchange.begin(
        new SentRequest() {
          @Override
          public void ask(int deliveries) {
            requested += deliveries;
          }

          @Override
          public void leave() {
            left = true;
          }

          @Override
          public void cancel() {
            cancelled = true;
          }
        });
  }

  private void deliver(String text) {
    exchange.content(text.getBytes(StandardCharsets.UTF_8));
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
      assertThat(requested).isEqualTo(WINDOW);
      assertThat(line()).isEqualTo(Integer.toString(i));
    }
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
    exchange.ended();
    assertThat(exchange.isOver()).isFalse();
    assertThat(line()).isEqualTo("three");
    assertThat(exchange.isOver()).isTrue();
    assertThat(news).isEqualTo(4);
  }

  @Test
  void linesThatHaveArrivedComeBeforeTheFailure() throws IOException {
    deliver("one\n");
    deliver("two\nthr");
    exchange.failed(new IOException("cut"));
    assertThat(List.of(line(), line())).containsExactly("one", "two");
    assertThatThrownBy(this::line).isInstanceOf(IOException.class).hasMessage("cut");
  }

  @Test
  void closingCancelsWhatTheClientDelivers() {
    exchange.close();
    assertThat(cancelled).isTrue();
  }

  @Test
  void leavingLetsTheRestComeUnlessItHas() {
    exchange.leave();
    assertThat(left).isTrue();
    left = false;
    exchange.ended();
    exchange.leave();
    exchange.close();
    assertThat(left || cancelled).isFalse();
  }
}
