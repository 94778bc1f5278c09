package io.dynamo.worker.engine.vllm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.dynamo.error.DeadlineExceededException;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.WorkerBusyException;
import io.dynamo.error.WorkerLostException;
import io.dynamo.worker.engine.Embedded;
import io.dynamo.worker.engine.Requests;
import io.dynamo.worker.engine.SharedLoops;
import io.dynamo.worker.engine.remote.FakeEmbeddings;
import io.dynamo.worker.engine.remote.FakeEmbeddings.Fault;
import io.dynamo.worker.engine.remote.RemoteEmbedder;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Faults of a server become typed errors in bounded time. */
class VllmEmbedderTest {
  private FakeEmbeddings server;
  private RemoteEmbedder engine;

  @BeforeEach
  void serve() throws IOException {
    server = new FakeEmbeddings();
    engine = engine(server.address());
  }

  @AfterEach
  void end() {
    engine.close();
    server.close();
  }

  static RemoteEmbedder engine(URI server) {
    return engine(server, Duration.ofSeconds(60));
  }

  private static RemoteEmbedder engine(URI server, Duration silence) {
    return new RemoteEmbedder(
        SharedLoops.LOOPS,
        new RemoteEmbedder.Config(
            server,
            "dynamo.worker.remote.url",
            null,
            null,
            Duration.ofSeconds(30),
            silence,
            2,
            8,
            true),
        new VllmEmbeddings(null, 4096));
  }

  @Test
  void requestCarriesTokenIdsTheServersModelAndDimensions() throws Exception {
    engine.start();
    assertThat(server.heard().list("input")).isEqualTo(List.of(List.of(1)));
    Embedded.of(engine, Embedded.request(4, null, new int[] {5, 6}, new int[] {7})).ended();
    var heard = server.heard();
    assertThat(heard.text("model")).isEqualTo("embedder");
    assertThat(heard.text("encoding_format")).isEqualTo("base64");
    assertThat(heard.count("dimensions")).isEqualTo(4);
    assertThat(heard.list("input")).isEqualTo(List.of(List.of(5, 6), List.of(7)));
  }

  @Test
  void answersInNumbersAreThoseInBase64() throws Exception {
    engine.start();
    var request = Embedded.request(new int[] {5, 6});
    var packed = Embedded.of(engine, request).ended().vectors().getFirst();
    server.answerInNumbers();
    var plain = Embedded.of(engine, request).ended().vectors().getFirst();
    assertThat(plain).containsExactly(packed, within(1e-6f));
  }

  @ParameterizedTest
  @CsvSource({
    "CUT,the connection broke",
    "GARBAGE,not understood",
    "FEWER,not every input",
    "TWICE,twice",
    "UNEVEN,16 and 3 numbers",
    "NOT_FINITE,Infinity",
    "FAIL,out of luck"
  })
  void brokenAnswersGoToAnotherWorker(Fault fault, String why) throws Exception {
    engine.start();
    server.fail(fault);
    var failure =
        Embedded.of(engine, Embedded.request(new int[] {1}, new int[] {2})).ended().failure();
    assertThat(failure).isInstanceOf(WorkerLostException.class).hasMessageContaining(why);
    server.fail(Fault.NONE);
    assertThat(Embedded.of(engine, Embedded.request(new int[] {1})).ended().vectors()).hasSize(1);
    assertThat(engine.running()).isZero();
  }

  @Test
  void refusalIsTheRequestersFaultAndABusyServerIsNobodys() throws Exception {
    engine.start();
    server.fail(Fault.REFUSE);
    assertThat(Embedded.of(engine, Embedded.request(new int[] {1})).ended().failure())
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("no dimensions here");
    server.fail(Fault.BUSY);
    assertThat(Embedded.of(engine, Embedded.request(new int[] {1})).ended().failure())
        .isInstanceOf(WorkerBusyException.class);
  }

  @Test
  void silentServerEndsARequestAtItsDeadlineOrAtTheLimit() throws Exception {
    engine.start();
    server.fail(Fault.HANG);
    var late =
        Embedded.of(
            engine, Embedded.request(new int[] {1}), Requests.context(Duration.ofMillis(50)));
    assertThat(late.ended().failure()).isInstanceOf(DeadlineExceededException.class);
    server.fail(Fault.NONE);
    try (var impatient = engine(server.address(), Duration.ofMillis(300))) {
      impatient.start();
      server.fail(Fault.HANG);
      assertThat(Embedded.of(impatient, Embedded.request(new int[] {1})).ended().failure())
          .isInstanceOf(WorkerLostException.class)
          .hasMessageContaining("not answered within");
    }
  }

  @Test
  void serverThatIsGoneEndsARequestAtOnce() throws Exception {
    engine.start();
    server.close();
    assertThat(Embedded.of(engine, Embedded.request(new int[] {1})).ended().failure())
        .isInstanceOf(WorkerLostException.class);
  }

  @Test
  void serverThatDoesNotEmbedEndsTheStartWithAdvice() {
    server.fail(Fault.REFUSE);
    assertThatThrownBy(engine::start)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("/v1/embeddings answers 400")
        .hasMessageContaining("--runner pooling");
  }

  @Test
  void largeRequestsAreCutIntoCalls() throws Exception {
    engine.start();
    server.heard();
    var prompts = new int[150][];
    for (int i = 0; i < prompts.length; i++) {
      prompts[i] = new int[] {i};
    }
    var answer = Embedded.of(engine, Embedded.request(prompts)).ended();
    assertThat(answer.vectors()).hasSize(150).allMatch(Objects::nonNull);
    assertThat(server.heard().list("input")).hasSize(64);
    assertThat(server.heard().list("input")).hasSize(64);
    assertThat(server.heard().list("input")).hasSize(22);
  }
}
