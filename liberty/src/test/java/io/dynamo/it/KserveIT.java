package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * KServe's protocol before a generated client: Triton's for Python, unmodified, from the
 * environment that {@code -Ddynamo.it.peer} names; its part is left out without the property.
 */
class KserveIT {
  @TempDir Path folder;

  @Test
  void tritonsClientIsServed() throws Exception {
    int port = ServerProcess.freePort();
    try (var server =
        ServerProcess.Plan.named("kserve")
            .with("DYN_KSERVE_GRPC_SERVER", "true")
            .with("DYNAMO_GRPC_PORT", Integer.toString(port))
            .start()) {
      server.awaitReady();
      SdkScript.python("kserve_client.py")
          .run(folder, "http://127.0.0.1:" + server.port(), "127.0.0.1:" + port);

      var unknown = server.get("/v2/models/nobody/ready");
      assertThat(unknown.statusCode()).isEqualTo(404);
      assertThat(server.get("/v2/nowhere").body()).startsWith("{\"error\":\"Route not found");
      assertThat(server.post("/v2/models/tiny", "{}").statusCode()).isEqualTo(405);
      assertThat(server.messages()).doesNotContain("io.grpc");
    }
  }
}
