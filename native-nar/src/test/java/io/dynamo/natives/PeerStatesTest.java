package io.dynamo.natives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.dynamo.natives.PeerStates.State;
import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PeerStatesTest {
  /** Both ends of one connection. */
  private record Ends(Socket client, Socket accepted, PeerStates.Connection connection) {
    /** The client goes; comes back when the server's side knows. */
    void closeClient() throws IOException {
      client.close();
      assertThat(accepted.getInputStream().read()).isEqualTo(-1);
    }
  }

  private final List<AutoCloseable> open = new ArrayList<>();
  private final PeerStates peers = new PeerStates();

  @BeforeEach
  void needsAKernelThatAnswers() {
    assumeTrue(peers.ask(), () -> "skipped: " + peers.cause());
  }

  @AfterEach
  void closeAll() throws Exception {
    for (var closeable : open.reversed()) {
      closeable.close();
    }
  }

  private State stateOf(Ends ends) {
    peers.clear();
    peers.add(ends.connection());
    assertThat(peers.ask()).as(peers.cause()).isTrue();
    return peers.state(0);
  }

  @ParameterizedTest
  @ValueSource(strings = {"127.0.0.1", "::1", "0.0.0.0", "::"})
  void clientThatClosedIsClosedUntilTheServerClosesToo(String bind) throws IOException {
    var server = listen(bind);
    var closing = connect(server);
    var staying = connect(server);
    assertThat(stateOf(closing)).isEqualTo(State.OPEN);

    closing.closeClient();
    assertThat(stateOf(closing)).isEqualTo(State.CLOSED);
    assertThat(stateOf(staying)).isEqualTo(State.OPEN);
    assertThat(peers.cause()).isNull();

    closing.accepted().close();
    assertThat(stateOf(closing)).isNotEqualTo(State.CLOSED);
    assertThat(stateOf(staying)).isEqualTo(State.OPEN);
  }

  @Test
  void clientOfTheSameLinkIsSeenToCome() throws IOException {
    var address = linkLocal();
    assumeTrue(address != null, "skipped: no interface has a link-local address");
    var ends = connect(listen(address.getHostAddress()));
    assertThat(stateOf(ends)).isEqualTo(State.OPEN);
    ends.closeClient();
    assertThat(stateOf(ends)).isEqualTo(State.CLOSED);
  }

  private static @Nullable InetAddress linkLocal() throws SocketException {
    return NetworkInterface.networkInterfaces()
        .flatMap(NetworkInterface::inetAddresses)
        .filter(address -> address instanceof Inet6Address && address.isLinkLocalAddress())
        .findFirst()
        .orElse(null);
  }

  @Test
  void connectionThatWasResetIsUnknown() throws IOException {
    var ends = connect(listen("127.0.0.1"));
    ends.client().setSoLinger(true, 0);
    ends.client().close();
    assertThatThrownBy(() -> ends.accepted().getInputStream().read())
        .isInstanceOf(SocketException.class);
    assertThat(stateOf(ends)).isEqualTo(State.UNKNOWN);
  }

  @Test
  void clientThatClosedOnlyItsOutputIsClosed() throws IOException {
    var ends = connect(listen("127.0.0.1"));
    ends.client().shutdownOutput();
    assertThat(ends.accepted().getInputStream().read()).isEqualTo(-1);
    assertThat(stateOf(ends)).isEqualTo(State.CLOSED);
  }

  @Test
  void clientWhoseLastBytesAreUnreadIsClosed() throws IOException {
    var ends = connect(listen("127.0.0.1"));
    ends.client().getOutputStream().write(new byte[] {1, 2});
    ends.client().close();
    assertThat(ends.accepted().getInputStream().read()).isEqualTo(1);
    var deadline = System.nanoTime() + 5_000_000_000L;
    while (stateOf(ends) == State.OPEN && System.nanoTime() < deadline) {
      Thread.onSpinWait(); // the end of the stream may come after the bytes
    }
    assertThat(stateOf(ends)).isEqualTo(State.CLOSED);
    assertThat(ends.accepted().getInputStream().read()).isEqualTo(2);
  }

  @Test
  void connectionThatNeverWasIsUnknown() throws IOException {
    var here =
        new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), listen("::").getLocalPort());
    peers.add(
        new PeerStates.Connection(
            here, new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 1)));
    peers.add(
        new PeerStates.Connection(
            here, new InetSocketAddress(InetAddress.ofLiteral("2001:db8::1"), 1)));
    assertThat(peers.ask()).isTrue();
    assertThat(peers.state(0)).isEqualTo(State.UNKNOWN);
    assertThat(peers.state(1)).isEqualTo(State.UNKNOWN);
  }

  @Test
  void manyConnectionsAreToldApart() throws IOException {
    var server = listen("127.0.0.1");
    peers.clear();
    for (var i = 0; i < 150; i++) {
      var ends = connect(server);
      if (i % 3 == 0) {
        ends.closeClient();
      }
      peers.add(ends.connection());
    }
    assertThat(peers.ask()).isTrue();
    for (var i = 0; i < 150; i++) {
      assertThat(peers.state(i)).isEqualTo(i % 3 == 0 ? State.CLOSED : State.OPEN);
    }
  }

  @Test
  void askingKeepsNoFileOpen() throws IOException {
    var ends = connect(listen("127.0.0.1"));
    stateOf(ends);
    var before = openFiles();
    for (var i = 0; i < 500; i++) {
      stateOf(ends);
    }
    assertThat(openFiles()).isLessThan(before + 100);
  }

  @Test
  void whatWasNotAskedCannotBeRead() {
    peers.clear();
    assertThatThrownBy(() -> peers.state(0)).isInstanceOf(IndexOutOfBoundsException.class);
    var unresolved = InetSocketAddress.createUnresolved("client.invalid", 1);
    assertThatThrownBy(() -> new PeerStates.Connection(unresolved, unresolved))
        .hasMessageContaining("client.invalid");
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

  private Ends connect(ServerSocket server) throws IOException {
    var bound = server.getInetAddress();
    var address = bound.isAnyLocalAddress() ? InetAddress.ofLiteral("127.0.0.1") : bound;
    var client = new Socket(address, server.getLocalPort());
    open.add(client);
    var accepted = server.accept();
    accepted.setSoTimeout(5000);
    open.add(accepted);
    return new Ends(
        client,
        accepted,
        new PeerStates.Connection(
            (InetSocketAddress) accepted.getLocalSocketAddress(),
            (InetSocketAddress) accepted.getRemoteSocketAddress()));
  }
}
