package io.dynamo.event.zmq;

import java.nio.channels.SelectableChannel;
import org.zeromq.SocketType;
import org.zeromq.ZMQ;

/**
 * A publisher's socket, bound or connected to brokers. It is of the kind that tells who subscribes:
 * reading that away is what lets the library take connections in and let them go while nothing is
 * published; a plain PUB socket does so only when it sends. By the loop's thread only.
 */
final class PublisherSocket implements SocketLoop.Source {
  static final SocketType TYPE = SocketType.XPUB;

  private static final int BATCH = 256; // messages read before another source has its turn

  private final ZMQ.Socket socket;

  PublisherSocket(ZMQ.Socket socket) {
    this.socket = socket;
  }

  SelectableChannel signal() {
    return socket.getFD();
  }

  /** Sends one frame without waiting. */
  void send(byte[] frame, boolean more) {
    socket.send(frame, more ? ZMQ.DONTWAIT | ZMQ.SNDMORE : ZMQ.DONTWAIT);
  }

  @Override
  public boolean read() {
    for (int i = 0; i < BATCH; i++) {
      if (socket.recv(ZMQ.DONTWAIT) == null) {
        return false;
      }
    }
    return true;
  }

  ZMQ.Socket socket() {
    return socket;
  }

  @Override
  public void close() {
    socket.close();
  }
}
