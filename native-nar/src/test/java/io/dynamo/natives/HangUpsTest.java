package io.dynamo.natives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

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
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class HangUpsTest {
  private static final Duration LONG = Duration.ofSeconds(20);

  /** Both ends of one connection. */
  private record Ends(Socket client, Socket accepted, HangUps.Connection connection) {}

  private final List<AutoCloseable> open = new ArrayList<>();
  private HangUps hangUps;

  @BeforeEach
  void needsTheLibrary() throws IOException {
    assumeTrue(NativeLibrary.isAvailable(), () -> "skipped: " + NativeLibrary.cause());
    hangUps = HangUps.opened();
    open.add(hangUps);
  }

  @AfterEach
  void closeAll() throws Exception {
    for (var closeable : open.reversed()) {
      closeable.close();
    }
  }

  private boolean watch(Ends ends, long id) {
    return hangUps.watch(List.of(new HangUps.WatchedConnection(id, ends.connection()))) == 1;
  }

  private List<Long> closedKeys(Duration atMost) {
    var ids = new ArrayList<Long>();
    hangUps.await(atMost, ids::add);
    return ids;
  }

  @ParameterizedTest
  @ValueSource(strings = {"127.0.0.1", "::1", "0.0.0.0", "::"})
  void aClientThatClosesIsReported(String bind) throws IOException {
    var server = listen(bind);
    var closing = connect(server);
    var staying = connect(server);
    assertThat(watch(closing, 1)).isTrue();
    assertThat(watch(staying, 2)).isTrue();
    assertThat(closedKeys(Duration.ZERO)).isEmpty();

    closing.client().close();

    assertThat(closedKeys(LONG)).containsExactly(1L);
    assertThat(closedKeys(Duration.ZERO)).isEmpty();
  }

  @Test
  void aClientOfTheSameLinkIsFound() throws IOException {
    var address = linkLocal();
    assumeTrue(address != null, "skipped: no interface has a link-local address");
    var ends = connect(listen(address.getHostAddress()));
    assertThat(watch(ends, 1)).isTrue();
    ends.client().close();
    assertThat(closedKeys(LONG)).containsExactly(1L);
  }

  private static @Nullable InetAddress linkLocal() throws SocketException {
    return NetworkInterface.networkInterfaces()
        .flatMap(NetworkInterface::inetAddresses)
        .filter(address -> address instanceof Inet6Address && address.isLinkLocalAddress())
        .findFirst()
        .orElse(null);
  }

  @Test
  void aResetIsReported() throws IOException {
    var ends = connect(listen("127.0.0.1"));
    assertThat(watch(ends, 1)).isTrue();
    ends.client().setSoLinger(true, 0);
    ends.client().close();
    assertThat(closedKeys(LONG)).containsExactly(1L);
  }

  @Test
  void aClientThatClosedOnlyItsOutputIsReported() throws IOException {
    var ends = connect(listen("127.0.0.1"));
    assertThat(watch(ends, 1)).isTrue();
    ends.client().shutdownOutput();
    assertThat(closedKeys(LONG)).containsExactly(1L);
  }

  @Test
  void aClientWhoseLastBytesAreUnreadIsReported() throws IOException {
    var ends = connect(listen("127.0.0.1"));
    assertThat(watch(ends, 1)).isTrue();
    ends.client().getOutputStream().write(new byte[] {1, 2});
    ends.client().close();
    assertThat(closedKeys(LONG)).containsExactly(1L);
    assertThat(ends.accepted().getInputStream().readAllBytes()).containsExactly(1, 2);
  }

  @Test
  void bytesThatComeAndGoAreNoHangUp() throws IOException {
    var ends = connect(listen("127.0.0.1"));
    assertThat(watch(ends, 1)).isTrue();
    ends.client().getOutputStream().write(1);
    assertThat(ends.accepted().getInputStream().read()).isEqualTo(1);
    ends.accepted().getOutputStream().write(2);
    assertThat(ends.client().getInputStream().read()).isEqualTo(2);
    assertThat(closedKeys(Duration.ofMillis(50))).isEmpty();
  }

  @Test
  void aConnectionOfNobodyHereIsNotFound() throws IOException {
    var here =
        new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), listen("::").getLocalPort());
    var nobody = new InetSocketAddress(InetAddress.ofLiteral("2001:db8::1"), 1);
    assertThat(
            hangUps.watch(
                List.of(new HangUps.WatchedConnection(1, new HangUps.Connection(here, nobody)))))
        .isZero();
    assertThat(closedKeys(Duration.ZERO)).isEmpty();
  }

  @Test
  void manyConnectionsAreDistinguished() throws IOException {
    var server = listen("127.0.0.1");
    var all = new ArrayList<Ends>();
    var watched = new ArrayList<HangUps.WatchedConnection>();
    for (int i = 0; i < 150; i++) {
      var ends = connect(server);
      all.add(ends);
      watched.add(new HangUps.WatchedConnection(i + 1, ends.connection()));
    }
    assertThat(hangUps.watch(watched)).isEqualTo(150);
    for (int i = 0; i < 150; i += 3) {
      all.get(i).client().close();
    }
    var closedKeys = new ArrayList<Long>();
    while (closedKeys.size() < 50) {
      closedKeys.addAll(closedKeys(LONG));
    }
    assertThat(closedKeys)
        .containsExactlyInAnyOrderElementsOf(
            LongStream.range(0, 50).mapToObj(i -> 3 * i + 1).toList());
    assertThat(closedKeys(Duration.ZERO)).isEmpty();
  }

  @Test
  void theNextRequestOfAConnectionTakesThePlaceOfTheFirst() throws IOException {
    var ends = connect(listen("127.0.0.1"));
    assertThat(watch(ends, 1)).isTrue();
    assertThat(watch(ends, 2)).isTrue();
    ends.client().close();
    assertThat(closedKeys(LONG)).containsExactly(2L);
  }

  @Test
  void aWakeEndsTheWait() {
    hangUps.wake();
    assertThat(closedKeys(LONG)).isEmpty();
    hangUps.close();
    hangUps.wake();
  }

  @Test
  void watchingKeepsNoFileOpen() throws IOException {
    var ends = connect(listen("127.0.0.1"));
    var before = openFiles();
    for (int i = 0; i < 500; i++) {
      try (var other = HangUps.opened()) {
        assertThat(other.watch(List.of(new HangUps.WatchedConnection(1, ends.connection()))))
            .isEqualTo(1);
      }
    }
    assertThat(openFiles()).isLessThan(before + 100);
  }

  @Test
  void invalidConnectionsAreRefused() {
    var unresolved = InetSocketAddress.createUnresolved("client.invalid", 1);
    assertThatThrownBy(() -> new HangUps.Connection(unresolved, unresolved))
        .hasMessageContaining("client.invalid");
    var address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
    assertThatThrownBy(
            () -> new HangUps.WatchedConnection(0, new HangUps.Connection(address, address)))
        .hasMessageContaining("above 0");
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
        new HangUps.Connection(
            (InetSocketAddress) accepted.getLocalSocketAddress(),
            (InetSocketAddress) accepted.getRemoteSocketAddress()));
  }
}
