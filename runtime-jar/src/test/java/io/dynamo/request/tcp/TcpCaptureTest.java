package io.dynamo.request.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.concurrent.Deadline;
import io.dynamo.concurrent.ItemStream;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.error.EngineFailedException;
import io.dynamo.net.PayloadFormat;
import io.dynamo.request.EndpointServer;
import io.dynamo.request.RequestContext;
import io.dynamo.wire.AnyCodec;
import io.dynamo.wire.Golden;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.math.BigInteger;
import java.net.ServerSocket;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Captures of endpoints that are not ours, played through both sides on plain sockets. */
class TcpCaptureTest {
  private static final AnyCodec CODEC = new AnyCodec();
  private static final byte[] ACCEPTED = new byte[4];

  private record CapturedCall(Map<?, ?> request, RequestContext context) {}

  private final TestPlane plane = new TestPlane();
  private final BlockingQueue<CapturedCall> heard = new ArrayBlockingQueue<>(16);
  private EndpointServer.Served served;

  @BeforeEach
  void serve() {
    served =
        plane.server.serve(
            TestPlane.ENDPOINT,
            TestPlane.ID,
            (request, context) -> {
              heard.add(new CapturedCall(request, context));
              var answer = new ItemStream<Map<?, ?>>(8, () -> {}, () -> {});
              answer.complete();
              return answer;
            },
            CODEC);
  }

  @AfterEach
  void closePlane() {
    plane.close();
  }

  // requests

  private CapturedCall played(String name) throws Exception {
    try (var home = RawPeer.listen();
        var requester = dial()) {
      requester.write(Captured.patched(Golden.request(name), Captured.CHAT_PATH, home));
      assertThat(requester.readAck()).isEmpty();
      try (var stream = RawPeer.accept(home)) {
        assertThat(stream.readFrame().header())
            .asString()
            .contains(Captured.subject(Golden.request(name)));
        assertThat(stream.readFrame().header()).asString().isEqualTo("{\"error\":null}");
        assertThat(stream.readFrame().body()).isEqualTo(Captured.END_MARK);
      }
    }
    assertThat(served.drain(Deadline.after(TestPlane.PATIENCE))).isTrue();
    var request = heard.poll(TestPlane.PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    if (request == null) {
      throw new AssertionError("the request does not reach the handler");
    }
    assertThat(CODEC.encodeRequest(request.request(), PayloadFormat.MSGPACK))
        .as("written again")
        .isEqualTo(Golden.request(name).payload().body());
    return request;
  }

  private RawPeer dial() throws IOException {
    return RawPeer.dial(TestPlane.tcpAddress(served));
  }

  @Test
  void embeddingsOfTwoInputsAreTwoLists() throws Exception {
    var request = played("embeddings").request();
    assertThat(request.get("token_ids"))
        .isEqualTo(List.of(List.of(282L, 80L, 321L, 2607L), List.of(4592L)));
    assertThat(request.get("dimensions")).isEqualTo(4L);
    assertThat(request.get("model")).isEqualTo("emb");
  }

  @Test
  void metadataAndValuesThatJsonCannotHoldArrive() throws Exception {
    var request = played("with-metadata");
    assertThat(request.context().metadata()).isEqualTo(Map.of("k", "v"));
    assertThat(request.request().get("b")).isEqualTo(new byte[] {'x', 'y', 'z'});
    assertThat(request.request().get("big")).isEqualTo(new BigInteger("9223372036854775813"));
    assertThat(request.request().get("neg")).isEqualTo(-3L);
    assertThat(request.request().get("f")).isEqualTo(1.5);
    assertThat(request.request().containsKey("n")).isTrue();
    assertThat(request.request().get("n")).isNull();
  }

  @Test
  void theHandoffOfADisaggregatedRequestIsAUuidOfSixteenBytes() throws Exception {
    var decode = played("disagg-decode").request();
    assertThat(decode.get("bootstrap_info"))
        .isInstanceOfSatisfying(
            Map.class,
            info ->
                assertThat(info.get("handoff_id"))
                    .isInstanceOfSatisfying(byte[].class, uuid -> assertThat(uuid).hasSize(16)));
  }

  @Test
  void aPrefillRequestArrivesWhole() throws Exception {
    assertThat(played("disagg-prefill").request().get("model")).isEqualTo("tiny");
  }

  @Test
  void aCompletionArrivesWhole() throws Exception {
    assertThat(played("completions").request().get("model")).isEqualTo("tiny");
  }

  @Test
  void theTraceOfACapturedRequestReachesTheHandler() throws Exception {
    assertThat(played("traceparent").context().headers())
        .containsOnlyKeys("traceparent", "x-request-id")
        .containsEntry("x-request-id", "ext-req-7");
  }

  // answers

  private Collector<Map<?, ?>> answered(PayloadFormat format, String... parts) throws Exception {
    try (var worker = RawPeer.listen()) {
      var caller =
          Collector.<Map<?, ?>>all(
              plane.client.call(at(worker, format), Map.of(), CODEC, TestPlane.context()));
      try (var requests = RawPeer.accept(worker)) {
        var request = requests.readRequest();
        requests.write(ACCEPTED);
        var bytes = new ByteArrayOutputStream();
        bytes.writeBytes(Captured.answer(parts[0], Captured.subject(request)));
        for (int i = 1; i < parts.length; i++) {
          bytes.writeBytes(Golden.bytes("response-stream/" + parts[i]));
        }
        try (var stream = RawPeer.dial(Captured.home(request))) {
          stream.write(bytes.toByteArray());
          stream.awaitGone();
        }
      }
      return caller;
    }
  }

  private static Instance at(ServerSocket worker, PayloadFormat format) {
    return new Instance(
        TestPlane.ENDPOINT,
        TestPlane.ID,
        new TransportAddress.Tcp("127.0.0.1:" + worker.getLocalPort(), Captured.CHAT_PATH),
        "cpu",
        format);
  }

  @Test
  void annotationsAreReadOverAndAnErrorOfCommentsEndsTheAnswer() throws Exception {
    var caller = answered(PayloadFormat.MSGPACK, "annotated-items.w2f.bin");
    assertThat(caller.awaitFailure())
        .isInstanceOf(EngineFailedException.class)
        .hasMessage("plain error");
    assertThat(caller.items()).hasSize(1);
    assertThat(caller.items().getFirst()).isEqualTo(Map.of("a", 1L));
  }

  @Test
  void aStreamOfADrainingWorkerRunsToItsEnd() throws Exception {
    var caller =
        answered(PayloadFormat.MSGPACK, "chat-drained.w2f.head.bin", "chat-drained.w2f.tail.bin");
    var items = caller.awaitCompletion();
    assertThat(items).hasSize(5);
    assertThat(items.getLast().get("finish_reason")).isEqualTo("length");
  }

  @Test
  void bytesAndNumbersOfAPythonWorkerKeepTheirTypeInMsgpack() throws Exception {
    var item =
        answered(PayloadFormat.MSGPACK, "python-bytes-nan-msgpack.w2f.bin")
            .awaitCompletion()
            .getFirst();
    assertThat(item.get("blob")).isEqualTo(new byte[] {1, 1, 1, 1, 1});
    assertThat(item.get("nan")).isEqualTo(Double.NaN);
    assertThat(item.get("inf")).isEqualTo(Double.POSITIVE_INFINITY);
  }

  @Test
  void bytesAndNumbersOfAPythonWorkerAreListsAndNullsInJson() throws Exception {
    var item =
        answered(PayloadFormat.JSON, "python-bytes-nan-json.w2f.bin").awaitCompletion().getFirst();
    assertThat(item.get("blob")).hasToString("[1, 1, 1, 1, 1]");
    assertThat(item.containsKey("nan")).isTrue();
    assertThat(item.get("nan")).isNull();
    assertThat(item.get("inf")).isNull();
  }
}
