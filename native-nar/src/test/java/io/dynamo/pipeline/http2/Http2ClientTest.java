package io.dynamo.pipeline.http2;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.pipeline.EventLoops;
import io.dynamo.pipeline.TlsContext;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Calls that a stale connection has failed, before a server that accepts and says nothing. */
class Http2ClientTest {
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final int POOL = 3;
  private static final EventLoops LOOPS = new EventLoops(1);

  private final ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  private @Nullable Http2Client client;

  Http2ClientTest() throws IOException {}

  @AfterAll
  static void closeLoops() {
    LOOPS.close();
  }

  @AfterEach
  void close() throws IOException {
    if (client != null) {
      client.close();
    }
    silent.close();
  }

  private static final class Unheard implements Http2Client.Outcome {
    @Override
    public void accepted() {}

    @Override
    public void refused(String text) {}

    @Override
    public void failed(Throwable cause) {}

    @Override
    public void late(Duration limit) {}

    @Override
    public void busy(int streams) {}
  }

  private int connectionsAfterCallsSentAfresh(@Nullable TlsContext tls) {
    var bounds = new Http2Bounds(1 << 20, PATIENCE, PATIENCE, PATIENCE);
    client = new Http2Client(LOOPS, tls, bounds, PATIENCE, POOL);
    var request = new Http2Request("/", Map.of(), new byte[0], new byte[0]);
    var address = (InetSocketAddress) silent.getLocalSocketAddress();
    for (int i = 0; i < 10; i++) {
      client.send(new Http2Call(address, request, null, new Unheard()), true);
    }
    return client.connections();
  }

  @Test
  void callsThatAreSentAfreshShareAConnectionThatIsBeingOpened() {
    var anybody = new TlsContext.PemFiles(null, null, null);
    try (var tls = TlsContext.ofClient(anybody, null, PATIENCE, "h2")) {
      assertThat(connectionsAfterCallsSentAfresh(tls)).isEqualTo(1);
    }
  }

  @Test
  void callsThatAreSentAfreshOpenNoMoreConnectionsThanThePoolHas() {
    assertThat(connectionsAfterCallsSentAfresh(null)).isBetween(1, POOL);
  }
}
