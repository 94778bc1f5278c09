package io.dynamo.frontend.wiring;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.config.HttpTlsSettings;
import io.dynamo.discovery.EndpointId;
import io.dynamo.frontend.TestCard;
import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.frontend.preprocess.NoText;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class WelcomeTest {
  private static final HttpTlsSettings CLEAR = new HttpTlsSettings(null, null, null);

  private static ServedModel model(String name, String... types) {
    var card = TestCard.named(name).modelTypes(Set.of(types)).build();
    return new ServedModel(card, new EndpointId("ns", name, "generate"), new NoText(), 0);
  }

  @Test
  void aModelThatCannotChatIsNotOfferedForChat() {
    var address = "http://127.0.0.1:8000";
    var embedding = model("embed", "Embedding");
    var plain = model("plain", "Completions");

    assertThat(Welcome.text(address, CLEAR, null, List.of(embedding, plain, model("tiny", "Chat"))))
        .contains("Dynamo serves \"tiny\"", "{\"model\":\"tiny\"");
    assertThat(Welcome.text(address, CLEAR, null, List.of(embedding, plain)))
        .contains("Dynamo serves \"plain\"", address + "/v1/completions", "\"prompt\":")
        .doesNotContain("chat/completions");
    assertThat(Welcome.text(address, CLEAR, null, List.of(embedding)))
        .contains("Dynamo serves \"embed\" at " + address + ".", "/v1/models")
        .doesNotContain("curl", "completions");
  }

  @Test
  void theFirstRequestCanBeCopiedFromTheConsole() {
    var said = Welcome.text("http://127.0.0.1:8000", CLEAR, null, List.of(model("tiny", "Chat")));
    assertThat(said)
        .contains("curl -N http://127.0.0.1:8000/v1/chat/completions")
        .contains("{\"model\":\"tiny\",\"stream\":true,")
        .contains("' \\\n    -d '")
        .doesNotContain("Status server");
  }

  @Test
  void theStatusServerIsNamedWithItsPort() {
    assertThat(
            Welcome.text(
                "http://127.0.0.1:8000",
                CLEAR,
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 9090),
                List.of(model("tiny", "Chat"))))
        .contains("Console http://127.0.0.1:8000/console", "metrics http://127.0.0.1:8000/metrics")
        .contains("Status server http://127.0.0.1:9090: /health");
  }

  @Test
  void underTlsTheRequestNamesTheCertificatesThatItNeeds() {
    var chain = Path.of("chain.pem");
    var models = List.of(model("tiny", "Chat"));
    var https = "https://127.0.0.1:8000";
    assertThat(Welcome.text(https, new HttpTlsSettings(chain, chain, null), null, models))
        .contains("the authority that signed", "curl -N --cacert ca.pem " + https + "/v1/chat")
        .doesNotContain("--cert ");
    assertThat(Welcome.text(https, new HttpTlsSettings(chain, chain, chain), null, models))
        .contains("curl -N --cacert ca.pem --cert client.pem --key client-key.pem " + https);
  }
}
