package io.dynamo.request.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.wire.Golden;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** The other side as a plain blocking socket: it knows no code of ours. Waits fail the test. */
final class RawPeer implements AutoCloseable {
  private final Socket socket;
  private final DataInputStream in;

  private RawPeer(Socket socket) throws IOException {
    this.socket = socket;
    socket.setTcpNoDelay(true);
    socket.setSoTimeout((int) TestPlane.PATIENCE.toMillis());
    in = new DataInputStream(socket.getInputStream());
  }

  static RawPeer dial(String address) throws IOException {
    var parsed = SocketAddresses.parse(address);
    return new RawPeer(new Socket(parsed.getAddress(), parsed.getPort()));
  }

  static ServerSocket listen() throws IOException {
    var listener = new ServerSocket();
    listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    listener.setSoTimeout((int) TestPlane.PATIENCE.toMillis());
    return listener;
  }

  static RawPeer accept(ServerSocket listener) throws IOException {
    return new RawPeer(listener.accept());
  }

  void write(byte[] bytes) throws IOException {
    socket.getOutputStream().write(bytes);
  }

  byte[] read(int count) throws IOException {
    var bytes = new byte[count];
    in.readFully(bytes);
    return bytes;
  }

  /** The text of the next acknowledgement. */
  String readAck() throws IOException {
    return new String(read(in.readInt()), StandardCharsets.UTF_8);
  }

  Golden.Frame readFrame() throws IOException {
    int header = Math.toIntExact(in.readLong());
    int body = Math.toIntExact(in.readLong());
    assertThat(in.readLong()).as("checksum").isZero();
    return new Golden.Frame(read(header), read(body));
  }

  /** A request as a worker finds it on its connection. */
  Golden.Request readRequest() throws IOException {
    var path = read(in.readUnsignedShort());
    var headers = read(in.readUnsignedShort());
    in.readInt();
    return new Golden.Request(path, headers, readFrame());
  }

  /** All that comes until the end of the stream. */
  byte[] readAll() throws IOException {
    return in.readAllBytes();
  }

  /** Half-closes: the other side reads the end of the stream. */
  void finish() throws IOException {
    socket.shutdownOutput();
  }

  /** Tears the connection: the other side reads "connection reset". */
  void reset() throws IOException {
    socket.setSoLinger(true, 0);
    socket.close();
  }

  void awaitEnd() throws IOException {
    assertThat(in.read()).as("end of the stream").isEqualTo(-1);
  }

  /** Waits for the end of the connection, however it comes. */
  void awaitGone() {
    try {
      readAll();
    } catch (SocketException reset) {
      assertThat(reset).hasMessageContaining("reset");
    } catch (IOException e) {
      throw new AssertionError("the connection stays open", e);
    }
  }

  void awaitReset() {
    assertThatThrownBy(in::read).isInstanceOf(SocketException.class).hasMessageContaining("reset");
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }

  static byte[] frame(String header, byte[] body) {
    return frame(header.getBytes(StandardCharsets.UTF_8), body);
  }

  static byte[] frame(byte[] header, byte[] body) {
    return ByteBuffer.allocate(24 + header.length + body.length)
        .putLong(header.length)
        .putLong(body.length)
        .putLong(0)
        .put(header)
        .put(body)
        .array();
  }

  static byte[] request(byte[] path, byte[] headers, byte[] payload) {
    return ByteBuffer.allocate(8 + path.length + headers.length + payload.length)
        .putShort((short) path.length)
        .put(path)
        .putShort((short) headers.length)
        .put(headers)
        .putInt(payload.length)
        .put(payload)
        .array();
  }
}
