package io.dynamo.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ModelFileTest {
  // the published BLAKE3 digest of "abc"
  private static final String ABC =
      "blake3:6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85";

  private HttpServer host;

  @BeforeEach
  void startHost() throws IOException {
    host = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    answer("/abc", 200, "abc");
    answer("/gone", 404, "Not found");
    host.createContext(
        "/moved",
        exchange -> {
          exchange.getResponseHeaders().set("Location", "/abc");
          exchange.sendResponseHeaders(302, -1);
          exchange.close();
        });
    host.start();
  }

  private void answer(String path, int status, String body) {
    host.createContext(
        path,
        exchange -> {
          var bytes = body.getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(status, bytes.length);
          exchange.getResponseBody().write(bytes);
          exchange.close();
        });
  }

  @AfterEach
  void stopHost() {
    host.stop(0);
  }

  private ModelFile hosted(String path, String checksum, @Nullable Long size) {
    return new ModelFile("http://127.0.0.1:" + host.getAddress().getPort() + path, checksum, size);
  }

  @Test
  void hostedFileIsFetchedAndChecked() throws IOException {
    assertThat(hosted("/abc", ABC, 3L).read()).asString().isEqualTo("abc");
    assertThat(hosted("/abc", ABC, null).read()).asString().isEqualTo("abc");
    assertThatThrownBy(() -> hosted("/abc", "blake3:0", 3L).read())
        .isInstanceOf(IOException.class)
        .hasMessageContaining("the model's card says blake3:0");
  }

  @Test
  void hostThatSendsMoreThanTheCardSaysIsNotReadToTheEnd() {
    assertThatThrownBy(() -> hosted("/abc", ABC, 2L).read())
        .isInstanceOf(IOException.class)
        .hasMessageContaining("cannot be fetched");
  }

  @Test
  void answersOtherThanTheFileAreRefused() {
    assertThatThrownBy(() -> hosted("/gone", ABC, 3L).read()).hasMessageContaining("404");
    assertThatThrownBy(() -> hosted("/moved", ABC, 3L).read()).hasMessageContaining("302");
  }

  @Test
  void hostThatIsGoneIsAnErrorAtOnce() {
    var file = hosted("/abc", ABC, 3L);
    host.stop(0);

    assertThatThrownBy(file::read)
        .isInstanceOf(IOException.class)
        .hasMessageContaining("cannot be fetched");
  }

  @Test
  void otherSchemesAreRefused() {
    assertThatThrownBy(() -> new ModelFile("hf://a/b", ABC, 3L).read())
        .hasMessageContaining("neither a local file nor an address");
  }
}
