package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.frontend.dispatch.TalkInput;
import io.dynamo.frontend.socket.SocketReader;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Realtime sessions whose client is silent, slow or gone: they end, and keep no place. */
class RealtimeLivenessTest extends RealtimeSessions {
  @Test
  void aConnectionThatDoesNotCloseKeepsNoPlace() throws Exception {
    var closed = new CountDownLatch(1);
    closer =
        () -> {
          try {
            boolean _ = closed.await(LIMIT_MILLIS, TimeUnit.MILLISECONDS);
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        };
    connectAndChoose();
    worker.end();
    assertThat(closed()).isEqualTo("1000 stream complete");
    client.close();

    awaitEnd();

    assertThat(closed.getCount()).isOne();
    closed.countDown();
  }

  @Test
  void aConnectionIsClosedOnce() throws Exception {
    var closes = new AtomicInteger();
    closer = () -> closes.incrementAndGet();
    connectAndChoose();
    service.abortAll();
    assertThat(closed()).startsWith("1001");
    client.close();
    awaitEnd();

    threads.shutdown();
    assertThat(threads.awaitTermination(60, TimeUnit.SECONDS)).isTrue();
    assertThat(closes).hasValue(1);
  }

  @Test
  void withoutRoomForItsFirstMessageASessionEndsForNow() throws Exception {
    connect("");
    send("{\"type\":\"x\",\"a\":[" + "{},".repeat(20_000) + "{}]}");

    assertThat(closed()).startsWith("1013 ");
    client.close();
    awaitEnd();
  }

  @Test
  void aSilentClientIsGivenUp() throws Exception {
    connectAndChoose();
    await("the client is read", () -> isIn(SocketReader.class, "next"));
    timer.look();
    timer.look();
    assertThat(frame(0x89)).isEmpty();
    timer.look();

    assertThat(worker.closed.await(60, TimeUnit.SECONDS)).isTrue();
    awaitEnd();
  }

  @Test
  void aClientWhoseWorkerIsSlowIsNotGivenUp() throws Exception {
    worker.reads = false;
    connect("");
    send(UPDATE);
    for (int i = 0; i < 200; i++) {
      send("{\"type\":\"input_audio_buffer.clear\"}");
    }
    await("its events wait", () -> isWaitingIn(TalkInput.class, "offer"));
    for (int i = 0; i < 5; i++) {
      timer.look();
    }
    worker.end();

    assertThat(closed()).isEqualTo("1000 stream complete");
  }

  @Test
  void aMessageThatDoesNotEndClosesItsSession() throws Exception {
    connectAndChoose();
    frame(0x01, new byte[] {'{'}); // and no more of it
    frame(0x89, new byte[] {7});
    assertThat(frame(0x8A)).hasSize(1);
    for (int i = 0; i < 3; i++) {
      frame(0x89, new byte[] {7});
      assertThat(frame(0x8A)).hasSize(1);
      timer.look();
    }

    assertThat(closed()).isEqualTo("1008 a message did not arrive within 60 s");
  }

  @Test
  void aHandshakeWithoutASocketKeepsNoPlace() throws Exception {
    var session = admitted("");
    assertThat(frontend.admission.admitted()).isOne();

    session.giveUp(); // as the timer does

    awaitEnd();
    var ended = new CountDownLatch(1);
    service.start(
        session,
        new RealtimeSession.Socket(
            InputStream.nullInputStream(), OutputStream.nullOutputStream(), ended::countDown));
    assertThat(ended.await(60, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void aSocketThatCannotBeServedKeepsNoPlace() {
    var ended = new AtomicInteger();
    threads.shutdown();

    service.start(
        admitted(""),
        new RealtimeSession.Socket(
            InputStream.nullInputStream(),
            OutputStream.nullOutputStream(),
            ended::incrementAndGet));

    assertThat(frontend.admission.admitted()).isZero();
    assertThat(ended).hasValue(1);
  }
}
