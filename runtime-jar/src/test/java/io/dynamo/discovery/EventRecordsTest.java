package io.dynamo.discovery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.kv.KvEventSource;
import io.dynamo.kv.WorkerRank;
import io.dynamo.net.PayloadFormat;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class EventRecordsTest {
  private static final EndpointId GENERATE = new EndpointId("dynamo", "backend", "generate");

  @Test
  void keysHoldTheScopeWithOddBytesEscaped() {
    var channel =
        new EventChannel(
            new EventScope.OfComponent("a.b", "ü"), "kv-events", 0x928e384d2ff2L, zmq("tcp://h:1"));

    assertThat(channel.key())
        .isEqualTo("namespace/a%2Eb/component/%C3%BC/topic/kv-events/928e384d2ff2");
    assertThat(new EventScope.OfEndpoint(GENERATE).subject())
        .isEqualTo("namespace.dynamo.component.backend.endpoint.generate");
  }

  @Test
  void everyScopeAndTransportSurvivesTheRoundTrip() {
    for (var record :
        List.of(
            new EventChannel(new EventScope.OfNamespace("n"), "t", 1, zmq("tcp://10.0.0.7:1")),
            new EventChannel(
                new EventScope.OfComponent("n", "c"),
                "t",
                2,
                new EventTransport.ZmqBroker(List.of("tcp://a:1"), List.of("tcp://a:2"))),
            new EventChannel(
                new EventScope.OfEndpoint(GENERATE), "t", 3, new EventTransport.Nats("a.b")))) {
      assertThat(DiscoveryJson.decode(DiscoveryJson.encode(record))).isEqualTo(record);
    }
  }

  @Test
  void aCapturedSourceTellsItsRankAndWhomToAsk() throws IOException {
    var record =
        (EventSource)
            DiscoveryJson.decode(
                golden(
                    "event_sources/namespace%2Fdynamo%2Fcomponent%2Fbackend%2Fendpoint%2Fgenerate"
                        + "%2Ftopic%2Fkv%2Devents%2F928e384d2ff2"));

    var source = KvEventSource.of(record);

    var worker = new InstanceId(0xd754c3ee5d3715dfL);
    var query =
        new EndpointId("dynamo", "backend", KvEventSource.queryEndpoint(source.publisherId()));
    assertThat(source)
        .isEqualTo(
            new KvEventSource(
                GENERATE,
                new WorkerRank(worker, 0),
                0x928e384d2ff2L,
                new Instance(
                    query,
                    worker,
                    new TransportAddress.Tcp("10.0.0.7:40935", worker.hex() + "/" + query),
                    "cuda",
                    PayloadFormat.MSGPACK)));
    assertThat(source.toRecord()).isEqualTo(record);
  }

  @Test
  void aSourceOfAnotherPublisherIsRefused() {
    var ours = new KvEventSource(GENERATE, new WorkerRank(new InstanceId(-1), 1), 7, null);
    var record = ours.toRecord();
    var forged = new EventSource(record.scope(), record.topic(), 8, record.metadata());

    assertThat(KvEventSource.of(record)).isEqualTo(ours);
    assertThatThrownBy(() -> KvEventSource.of(forged))
        .hasMessageContaining("publisher 8 tells the source of publisher 7");
  }

  @Test
  void anUnknownTransportIsNamed() {
    var json =
        """
        {"type":"EventChannel","scope":{"kind":"namespace","name":"n"},"topic":"t",\
        "instance_id":1,"transport":{"kind":"Pigeon","config":{}}}""";

    assertThatThrownBy(() -> DiscoveryJson.decode(json.getBytes(StandardCharsets.UTF_8)))
        .hasMessageContaining("transport \"Pigeon\"");
  }

  private static EventTransport zmq(String endpoint) {
    return new EventTransport.Zmq(endpoint);
  }

  private static byte[] golden(String name) throws IOException {
    try (InputStream in =
        EventRecordsTest.class.getResourceAsStream("/golden/discovery-file/v1/" + name)) {
      return Objects.requireNonNull(in, name).readAllBytes();
    }
  }
}
