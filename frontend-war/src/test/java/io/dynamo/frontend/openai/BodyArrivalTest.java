package io.dynamo.frontend.openai;

import static io.dynamo.frontend.openai.Samples.hi;
import static io.dynamo.frontend.openai.Samples.said;
import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.frontend.openai.FrontendFixture.Recorded;
import io.dynamo.frontend.openai.wire.Trickle;
import io.dynamo.inference.FinishReason;
import java.io.ByteArrayInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Bodies that arrive slowly, in pieces or not at all, and the memory that they are charged. */
class BodyArrivalTest {
  private final FrontendFixture frontend = new FrontendFixture();

  @AfterEach
  void close() {
    frontend.closeIdle();
  }

  @Test
  void aBodyBeyondTheLimitIsRefusedWithBothNumbers() {
    var answer = frontend.post(" ".repeat(5000));
    assertThat(answer.status).isEqualTo(413);
    assertThat(answer.text()).contains("5000").contains("4096");
  }

  @Test
  void onlyJsonIsTaken() {
    for (var type : List.of("text/plain", "application/x-www-form-urlencoded", "")) {
      var answer = frontend.post(new byte[0], Map.of("content-type", type));
      assertThat(answer.status).as(type).isEqualTo(415);
    }
    frontend.items = List.of(said("a", FinishReason.EOS, 1));
    var vendor =
        frontend.post(
            hi("").getBytes(StandardCharsets.UTF_8),
            Map.of("content-type", "application/vnd.api+json; charset=latin1"));
    assertThat(vendor.status).isEqualTo(200);
  }

  @Test
  void aBodyThatDoesNotArriveWithinTheDeadlineIs408() {
    try (var hasty = new FrontendFixture(Duration.ZERO, frontend.watcher)) {
      var answer = hasty.post(new Trickle(), -1, Map.of(), new Recorded());
      assertThat(answer.status).isEqualTo(408);
      assertThat(answer.text()).contains("\"code\":408").contains("Request Timeout");
      assertThat(hasty.bodies.heldBytes()).isZero();
      assertThat(hasty.admission.admitted()).isZero();
    }
  }

  @Test
  void aReadThatTimesOutIs408AndABrokenBodyIs400() {
    for (var failure : List.of(new SocketTimeoutException("30 s"), new IOException("reset"))) {
      var body =
          new InputStream() {
            @Override
            public int read() throws IOException {
              throw failure;
            }

            @Override
            public int read(byte[] into, int from, int length) throws IOException {
              throw failure;
            }
          };
      int status = failure instanceof SocketTimeoutException ? 408 : 400;
      assertThat(frontend.post(body, 10, Map.of(), new Recorded()).status).isEqualTo(status);
    }
  }

  @Test
  void bodiesTogetherStayWithinTheBudgetAndGiveItBack() {
    try (var others = frontend.bodies.open()) {
      others.chargeComplete(64 * 4096 + 1024);
      var answer = frontend.post(hi(""));
      assertThat(answer.error)
          .hasFieldOrPropertyWithValue("status", 503)
          .hasFieldOrPropertyWithValue("code", "overloaded")
          .hasFieldOrPropertyWithValue("retryAfterSeconds", 1);
    }
    var during = new long[1];
    frontend.items = List.of(said("a", FinishReason.EOS, 1));
    var body =
        new ByteArrayInputStream((hi("") + " ".repeat(4000)).getBytes(StandardCharsets.UTF_8));
    var observed =
        new FilterInputStream(body) {
          @Override
          public int read(byte[] into, int from, int length) throws IOException {
            during[0] = frontend.bodies.heldBytes();
            return super.read(into, from, length);
          }
        };
    assertThat(frontend.post(observed, -1, Map.of(), new Recorded()).status).isEqualTo(200);
    assertThat(during[0]).isGreaterThanOrEqualTo(3072); // all but what is free
    assertThat(frontend.bodies.heldBytes()).isZero();
  }

  @Test
  void aBodyOfTheLimitIsReadWhole() {
    frontend.items = List.of(said("a", FinishReason.EOS, 1));
    var padded = hi("") + " ".repeat(4096 - hi("").length());
    assertThat(frontend.post(padded).status).isEqualTo(200);
    var longer =
        frontend.post(
            new ByteArrayInputStream((padded + " ").getBytes(StandardCharsets.UTF_8)),
            -1,
            Map.of(),
            new Recorded());
    assertThat(longer.status).isEqualTo(413);
  }

  @Test
  void aBodyIsChargedWithWhatItBecomes() {
    var body = "{\"model\":\"script\",\"messages\":[" + "{},".repeat(1200) + "{}]}";
    assertThat(body.length()).isLessThan(4096);
    var answer = frontend.post(body);
    assertThat(answer.status).isEqualTo(413);
    assertThat(answer.text()).contains("bytes of memory");
    assertThat(frontend.bodies.heldBytes()).isZero();
  }
}
