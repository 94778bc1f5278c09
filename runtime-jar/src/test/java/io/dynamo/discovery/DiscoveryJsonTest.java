package io.dynamo.discovery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.json.Json;
import io.dynamo.model.LoraAdapter;
import io.dynamo.net.PayloadFormat;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DiscoveryJsonTest {
  private static byte[] golden(String name) throws IOException {
    try (InputStream in = DiscoveryJsonTest.class.getResourceAsStream("/golden/" + name)) {
      return Objects.requireNonNull(in, name).readAllBytes();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "discovery-file/v1/instances/dynamo%2Fbackend%2Fgenerate%2Fd754c3ee5d3715df",
        "discovery-file/v1/instances/dynamo%2Fbackend%2Fworker%5Fkv%5Fquery%5Fsource%5F928e384d2ff2%2Fd754c3ee5d3715df",
        "discovery-file/v1/mdc/dynamo%2Fbackend%2Fgenerate%2Fd754c3ee5d3715df",
        "discovery-file/v1/event_channels/namespace%2Fdynamo%2Fcomponent%2Fbackend%2Fendpoint%2Fgenerate%2Ftopic%2Factive%5Fsequences%5Fevents%2F13316482d1eb9",
        "discovery-file/v1/event_channels/namespace%2Fdynamo%2Fcomponent%2Fbackend%2Fendpoint%2Fgenerate%2Ftopic%2Fforward%2Dpass%2Dmetrics%2Fdd4af6b75acbe",
        "discovery-file/v1/event_channels/namespace%2Fdynamo%2Fcomponent%2Fbackend%2Fendpoint%2Fgenerate%2Ftopic%2Fkv%2Devents%2F928e384d2ff2",
        "discovery-file/v1/event_channels/namespace%2Fdynamo%2Fcomponent%2Fbackend%2Fendpoint%2Fgenerate%2Ftopic%2Fkv%5Fmetrics%2F6027fa5c56b7a",
        "discovery-file/v1/event_sources/namespace%2Fdynamo%2Fcomponent%2Fbackend%2Fendpoint%2Fgenerate%2Ftopic%2Fkv%2Devents%2F928e384d2ff2",
        "model-card/adapter.json",
        "model-card/aggregated-no-system-port.json",
        "model-card/aggregated-self-hosted.json",
        "model-card/decode-dp2.json",
        "model-card/prefill.json"
      })
  void capturedRecordsSurviveTheRoundTrip(String name) throws IOException {
    var captured = golden(name);

    var written = DiscoveryJson.encode(DiscoveryJson.decode(captured));

    assertThat(Json.readObject(written)).isEqualTo(Json.readObject(captured));
  }

  @Test
  void aCapturedInstanceHasItsUnsignedIdAndPath() throws IOException {
    var record =
        DiscoveryJson.decode(
            golden("discovery-file/v1/instances/dynamo%2Fbackend%2Fgenerate%2Fd754c3ee5d3715df"));

    assertThat(record)
        .isEqualTo(
            new Instance(
                new EndpointId("dynamo", "backend", "generate"),
                new InstanceId(0xd754c3ee5d3715dfL),
                new TransportAddress.Tcp(
                    "10.0.0.7:40935", "d754c3ee5d3715df/dynamo/backend/generate"),
                "cuda",
                PayloadFormat.MSGPACK));
    assertThat(record.key()).isEqualTo("dynamo/backend/generate/d754c3ee5d3715df");
  }

  @Test
  void aCapturedCardTellsRanksNeedsAndFiles() throws IOException {
    var model = (ModelRecord) DiscoveryJson.decode(golden("model-card/decode-dp2.json"));

    assertThat(model.card().ranks()).isEqualTo(2);
    assertThat(model.card().needs()).hasSize(1).first().asString().isEqualTo("[prefill]");
    assertThat(model.card().modelTypes()).containsExactlyInAnyOrder("Chat", "Completions");
    assertThat(model.card().runtimeConfig()).containsEntry("tool_call_parser", null);
    assertThat(Objects.requireNonNull(model.card().config()).size()).isEqualTo(377);
  }

  @Test
  void aCapturedCardOfAnAdapterNamesItAndHasItsOwnKey() throws IOException {
    var model = (ModelRecord) DiscoveryJson.decode(golden("model-card/adapter.json"));

    assertThat(model.card().lora()).isEqualTo(new LoraAdapter("Ad/apter A", 4, 7));
    assertThat(model.suffix()).isEqualTo("ad_apter_a");
    assertThat(model.key()).isEqualTo("dynamo/backend/generate/82faa43dccd44bcc/ad_apter_a");
  }

  @Test
  void aWorkerOfBefore14ReadsJson() {
    var json =
        """
        {"type":"Endpoint","namespace":"n","component":"c","endpoint":"e","instance_id":7,
         "transport":{"tcp":"10.0.0.7:1/7/e"},"later":{"x":[1]}}\
        """;

    var record = DiscoveryJson.decode(json.getBytes(StandardCharsets.UTF_8));

    assertThat(((Instance) record).format()).isEqualTo(PayloadFormat.JSON);
  }

  @Test
  void aLegacyCardsContextLengthIsUsed() {
    var json =
        """
        {"type":"Model","namespace":"n","component":"c","endpoint":"e","instance_id":7,
         "card_json":{"display_name":"m","slug":"m","context_length":4096,"kv_cache_block_size":16,
         "migration_limit":0,"model_type":"Completions | Chat","model_input":"Tokens"}}\
        """;

    var card = ((ModelRecord) DiscoveryJson.decode(json.getBytes(StandardCharsets.UTF_8))).card();

    assertThat(card.contextLength()).isEqualTo(4096);
    assertThat(card.workerType()).isNull();
    assertThat(card.ranks()).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "[]",
        "{}",
        "{\"type\":\"Endpoint\",\"namespace\":\"n\",\"component\":\"c\",\"endpoint\":\"e\",\"instance_id\":1.5,\"transport\":{\"tcp\":\"a:1/x\"}}",
        "{\"type\":\"Endpoint\",\"namespace\":\"n\",\"component\":\"c\",\"endpoint\":\"e\",\"instance_id\":-1,\"transport\":{\"tcp\":\"a:1/x\"}}",
        "{\"type\":\"Endpoint\",\"namespace\":\"n\",\"component\":\"c\",\"endpoint\":\"e\",\"instance_id\":18446744073709551616,\"transport\":{\"tcp\":\"a:1/x\"}}",
        "{\"type\":\"Endpoint\",\"namespace\":\"n\",\"component\":\"c\",\"endpoint\":\"e\",\"instance_id\":1,\"transport\":{\"quic\":\"s\"}}",
        "{\"type\":\"EventChannel\",\"namespace\":\"n\",\"component\":\"c\",\"endpoint\":\"e\",\"instance_id\":1}"
      })
  void malformedRecordsAreRefused(String json) {
    assertThatThrownBy(() -> DiscoveryJson.decode(json.getBytes(StandardCharsets.UTF_8)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aTransportOfALaterVersionIsLeftOutBesideOneThatIsKnown() {
    var json =
        """
        {"type":"Endpoint","component":"backend","endpoint":"generate","namespace":"dynamo",
         "instance_id":7,"transport":{"quic":"x"},
         "transports":[{"quic":"x"},{"http2":"https://[::1]:7/rpc/7/a"},{"tcp":"10.0.0.7:1/7/a"}]}
        """;
    var instance = (Instance) DiscoveryJson.decode(json.getBytes(StandardCharsets.UTF_8));
    assertThat(instance.transport())
        .isEqualTo(
            new TransportAddress.Several(
                List.of(
                    new TransportAddress.Http2(true, "[::1]:7", "/rpc/7/a"),
                    new TransportAddress.Tcp("10.0.0.7:1", "7/a"))));
  }
}
