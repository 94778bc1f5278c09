package io.dynamo.natives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ClosedPeersTest {
  /** Both ends of one connection. */
  private record Connection(Socket client, Socket accepted) {
    int clientPort() {
      return client.getLocalPort();
    }

    /** The client goes; comes back when the server's side knows. */
    void closeClient() throws IOException {
      client.close();
      assertThat(accepted.getInputStream().read()).isEqualTo(-1);
    }
  }

  private final List<AutoCloseable> open = new ArrayList<>();

  @BeforeEach
  void needsAKernelThatAnswers() {
    var peers = new ClosedPeers(1);
    assumeTrue(peers.scan() != ClosedPeers.ABSENT, () -> "skipped: " + peers.cause());
  }

  @AfterEach
  void closeAll() throws Exception {
    for (var closeable : open.reversed()) {
      closeable.close();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"127.0.0.1", "::1", "0.0.0.0"})
  void aClientThatClosedIsFoundUntilTheServerClosesToo(String bind) throws IOException {
    var server = listen(bind);
    var closing = connect(server);
    var staying = connect(server);
    var peers = new ClosedPeers(server.getLocalPort());
    assertThat(peers.scan()).isZero();

    closing.closeClient();
    assertThat(peers.scan()).isEqualTo(1);
    assertThat(peers.remotePort(0)).isEqualTo(closing.clientPort());
    assertThat(peers.remote(0)).isEqualTo(closing.accepted().getRemoteSocketAddress());
    assertThat(peers.cause()).isNull();

    closing.accepted().close();
    assertThat(peers.scan()).isZero();
    staying.closeClient();
    assertThat(peers.scan()).isEqualTo(1);
    assertThat(peers.remotePort(0)).isEqualTo(staying.clientPort());
  }

  @Test
  void aClientThatClosedOnlyItsOutputIsFoundAsWell() throws IOException {
    var server = listen("127.0.0.1");
    var connection = connect(server);
    connection.client().shutdownOutput();
    assertThat(connection.accepted().getInputStream().read()).isEqualTo(-1);
    assertThat(new ClosedPeers(server.getLocalPort()).scan()).isEqualTo(1);
  }

  @Test
  void aClientWhoseLastBytesAreUnreadIsFound() throws IOException {
    var server = listen("127.0.0.1");
    var connection = connect(server);
    connection.client().getOutputStream().write(new byte[] {1, 2});
    connection.client().close();
    assertThat(connection.accepted().getInputStream().read()).isEqualTo(1);
    var peers = new ClosedPeers(server.getLocalPort());
    var deadline = System.nanoTime() + 5_000_000_000L;
    while (peers.scan() == 0 && System.nanoTime() < deadline) {
      Thread.onSpinWait(); // the end of the stream may come after the bytes
    }
    assertThat(peers.scan()).isEqualTo(1);
    assertThat(connection.accepted().getInputStream().read()).isEqualTo(2);
  }

  @Test
  void otherPortsAreNotLookedAt() throws IOException {
    var server = listen("127.0.0.1");
    var other = listen("127.0.0.1");
    connect(server).closeClient();
    assertThat(new ClosedPeers(other.getLocalPort()).scan()).isZero();
  }

  @Test
  void moreClientsThanTheFirstBufferHoldsAreAllFound() throws IOException {
    var server = listen("127.0.0.1");
    var ports = new ArrayList<Integer>();
    for (var i = 0; i < 150; i++) {
      var connection = connect(server);
      connection.closeClient();
      ports.add(connection.clientPort());
    }
    var peers = new ClosedPeers(server.getLocalPort());
    assertThat(peers.scan()).isEqualTo(150);
    assertThat(IntStream.range(0, 150).map(peers::remotePort).boxed())
        .containsExactlyInAnyOrderElementsOf(ports);
  }

  @Test
  void scansKeepNoFileOpen() throws IOException {
    var peers = new ClosedPeers(listen("127.0.0.1").getLocalPort());
    peers.scan();
    var before = openFiles();
    for (var i = 0; i < 500; i++) {
      peers.scan();
    }
    assertThat(openFiles()).isLessThan(before + 100);
  }

  @Test
  void whatWasNotFoundCannotBeRead() throws IOException {
    var peers = new ClosedPeers(listen("127.0.0.1").getLocalPort());
    peers.scan();
    assertThatThrownBy(() -> peers.remotePort(0)).isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> new ClosedPeers(0)).hasMessageContaining("1 to 65535");
  }

  private static long openFiles() throws IOException {
    try (var files = Files.list(Path.of("/proc/self/fd"))) {
      return files.count();
    }
  }

  private ServerSocket listen(String bind) throws IOException {
    var server = new ServerSocket();
    open.add(server);
    server.bind(new InetSocketAddress(bind, 0));
    return server;
  }

  private Connection connect(ServerSocket server) throws IOException {
    var bound = server.getInetAddress();
    var address =
        bound.isAnyLocalAddress() ? InetAddress.getByAddress(new byte[] {127, 0, 0, 1}) : bound;
    var client = new Socket(address, server.getLocalPort());
    open.add(client);
    var accepted = server.accept();
    accepted.setSoTimeout(5000);
    open.add(accepted);
    return new Connection(client, accepted);
  }
}
