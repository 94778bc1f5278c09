package io.dynamo.request.tcp;

import io.dynamo.discovery.Instance;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.net.PayloadFormat;
import io.dynamo.wire.Golden;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** A worker on plain sockets that has taken one request and called home for it. */
final class WorkerAtHome implements AutoCloseable {
  static final byte[] ACCEPTED = new byte[4];
  private static final byte[] NOTHING = {};
  private static final byte[] ITEM = Golden.bodies("chat-stream.w2f.bin").getFirst();

  /** On which requests arrive. */
  final RawPeer requests;

  /** On which the answer is delivered. */
  final RawPeer stream;

  WorkerAtHome(ServerSocket worker) throws IOException {
    requests = RawPeer.accept(worker);
    var request = requests.readRequest();
    requests.write(ACCEPTED);
    stream = RawPeer.dial(Captured.home(request));
    stream.write(Captured.handshake(Captured.subject(request)));
  }

  /** The instance that {@code worker} listens for. */
  static Instance at(ServerSocket worker) {
    return new Instance(
        TestPlane.ENDPOINT,
        TestPlane.ID,
        new TransportAddress.Tcp("127.0.0.1:" + worker.getLocalPort(), Captured.CHAT_PATH),
        "cpu",
        PayloadFormat.MSGPACK);
  }

  void prologue() throws IOException {
    stream.write(RawPeer.frame("{\"error\":null}", NOTHING));
  }

  void prologueAndItem() throws IOException {
    prologue();
    item();
  }

  void item() throws IOException {
    stream.write(RawPeer.frame("", ITEM));
  }

  void halfAnItem() throws IOException {
    var whole = RawPeer.frame("", ITEM);
    stream.write(Arrays.copyOf(whole, whole.length / 2));
  }

  void end() throws IOException {
    stream.write(together(RawPeer.frame("", Captured.END_MARK), sentinel()));
  }

  /** In one write, so that nothing is late. */
  void itemAndEnd() throws IOException {
    stream.write(
        together(RawPeer.frame("", ITEM), RawPeer.frame("", Captured.END_MARK), sentinel()));
  }

  private static byte[] sentinel() {
    return RawPeer.frame("\"sentinel\"", NOTHING);
  }

  private static byte[] together(byte[]... frames) {
    var out = new ByteArrayOutputStream();
    for (var frame : frames) {
      out.writeBytes(frame);
    }
    return out.toByteArray();
  }

  /** Waits for the next request on the connection of the first and refuses it; returns its path. */
  String refuseNext() throws IOException {
    var path = new String(requests.readRequest().path(), StandardCharsets.UTF_8);
    var text = Acks.unknownEndpoint(path).getBytes(StandardCharsets.UTF_8);
    requests.write(new byte[] {0, 0, 0, (byte) text.length});
    requests.write(text);
    return path;
  }

  @Override
  public void close() throws IOException {
    stream.close();
    requests.close();
  }
}
